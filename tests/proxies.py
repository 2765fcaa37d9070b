"""A proxy on loopback that can stop forwarding, as a network that is cut without a reset."""

import asyncio
import threading


class Proxy:
    """Forwards to a Unix socket, in a thread of its own, while ``forwards`` is true. What arrives otherwise waits.

    ``turns``: how often the client has spoken after the server.
    """

    def __init__(self, target):
        self._target, self.forwards = str(target), True
        self.turns, self._speaks = 0, None

    def __enter__(self):
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run(started)), daemon=True)
        self._thread.start()
        assert started.wait(10)
        return self

    def __exit__(self, *_):
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def url(self, server):
        """The URL of a PostgreSQL server behind the proxy."""
        user_and_database = server.url.partition("?")[0]
        return user_and_database.replace("@/", f"@127.0.0.1:{self.port}/")

    async def _run(self, started):
        self._loop, self._end, self._pipes = asyncio.get_running_loop(), asyncio.Event(), set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await self._end.wait()
        server.close()
        for pipe in self._pipes:
            pipe.cancel()

    async def _accept(self, reader, writer):
        there = await asyncio.open_unix_connection(self._target)
        for name, source, sink in (("client", reader, there[1]), ("server", there[0], writer)):
            pipe = asyncio.create_task(self._forward(name, source, sink))
            self._pipes.add(pipe)
            pipe.add_done_callback(self._pipes.discard)

    async def _forward(self, name, source, sink):
        try:
            while data := await source.read(65536):
                self.turns += name == "client" and self._speaks != name
                self._speaks = name
                while not self.forwards:
                    await asyncio.sleep(0.02)
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()
