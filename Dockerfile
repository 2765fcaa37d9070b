# The service: `sharpe-bandits serve` as a user without rights, for a read-only root file system.
#
#   docker build --build-arg VERSION=0.1.0 -t sharpe-bandits .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -p 127.0.0.1:8000:8000 -v campaigns:/data -v "$PWD/tokens.toml:/run/secrets/tokens.toml:ro" \
#     sharpe-bandits serve /data/campaigns.db --host 0.0.0.0 --allowed-hosts localhost --token-file /run/secrets/tokens.toml
#
# The container writes to /data alone: the store, and compiled kernels. The file of tokens must belong to user 10001 with mode 600.
FROM python:3.13-slim AS build
ARG VERSION=0.1.0.dev0
ENV SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/sharpe-bandits && /opt/sharpe-bandits/bin/pip install '.[serve]'

FROM python:3.13-slim
RUN useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin bandit \
    && install --directory --owner bandit --mode 700 /data
COPY --from=build /opt/sharpe-bandits /opt/sharpe-bandits
ENV PATH=/opt/sharpe-bandits/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 SHARPE_BANDITS_CACHE=/data/cache
USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]
ENTRYPOINT ["sharpe-bandits"]
CMD ["serve", "/data/campaigns.db", "--host", "127.0.0.1"]
