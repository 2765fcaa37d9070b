/**
 * Client of the campaign service, for browsers and Node 18 or later; no dependencies.
 *
 *   const campaign = new Service("https://desk.example", { token, timeout: 500, fallback: "VWAP" }).campaign("desks");
 *   const decision = await campaign.ask({ key: "order-4711" });
 *   await campaign.tell(decision, 0.012);
 *
 * An unanswered request is sent again with the same key until `timeout` milliseconds are over: nothing is recorded
 * twice. `schema.d.ts` is generated from the service's OpenAPI document, so that every call is typed.
 */
import type { components, paths } from "./schema";

type Schemas = components["schemas"];
export type Decision = Schemas["Decision"];
export type Arm = Decision["arm"];
type Method = "get" | "post";
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } } ? B : undefined;
type Answer<O> = O extends { responses: { 200: { content: { "application/json": infer A } } } } ? A : unknown;
type Query = Record<string, string | number | boolean | null | undefined>;

export interface Options {
  token: string;
  /** Milliseconds to wait for an answer, retries included; short if somebody waits for a decision. */
  timeout?: number;
  /** The arm to play if the service does not answer in time; it is recorded when its reward is told. */
  fallback?: Arm;
}

/** What the service says is wrong (RFC 9457), or why it could not be reached (status 0). */
export class ServiceError extends Error {
  constructor(readonly status: number, detail: string, readonly type = "") {
    super(detail);
  }
}

const AGAIN = new Set([429, 502, 503, 504]);
const [PAUSE, LONGEST_PAUSE] = [50, 2000];
/** Prefix of the keys of decisions made without the service. */
const FALLBACK = "fallback-";
const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export class Service {
  constructor(readonly url: string, readonly options: Options) {}

  campaign(name: string): Campaign {
    return new Campaign(this, name);
  }

  /** Any route, as in `service.call("get", "/api/campaigns/{name}/log", { path: { name }, query: { count: 10 } })`. */
  async call<M extends Method, P extends keyof paths>(
    method: M,
    route: P,
    request: { path?: Record<string, string | number>; query?: Query; body?: Body<paths[P][M]> } = {},
  ): Promise<Answer<paths[P][M]>> {
    const path = route.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(String(request.path?.[key])));
    const query = Object.entries(request.query ?? {}).filter(([, value]) => value != null);
    const search = query.length ? `?${new URLSearchParams(query.map(([key, value]) => [key, String(value)]))}` : "";
    const address = `${this.url.replace(/\/$/, "")}${path}${search}`;
    const headers = { Authorization: `Bearer ${this.options.token}`, "Content-Type": "application/json" };
    const deadline = Date.now() + (this.options.timeout ?? 30_000);
    for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      let error: ServiceError;
      try {
        const signal = AbortSignal.timeout(Math.max(deadline - Date.now(), 10));
        const body = request.body === undefined ? undefined : JSON.stringify(request.body);
        const response = await fetch(address, { method: method.toUpperCase(), headers, body, signal });
        const content = await response.json().catch(() => null);
        if (response.ok) return content;
        error = new ServiceError(response.status, content?.detail ?? `status ${response.status}`, content?.type);
        if (!AGAIN.has(response.status)) throw error;
      } catch (failure) {
        if (failure instanceof ServiceError) throw failure;
        error = new ServiceError(0, `the service at ${this.url} does not answer (${failure})`);
      }
      const left = deadline - Date.now();
      if (left <= 0) throw error;
      await wait(Math.min(left, pause * (0.5 + Math.random() / 2))); // so that clients do not come back all at once
    }
  }
}

export class Campaign {
  constructor(readonly service: Service, readonly name: string) {}

  /** One decision; the same key returns the same decision. */
  async ask(request: Omit<Partial<Schemas["AskBody"]>, "keys" | "count"> = {}): Promise<Decision> {
    const key = request.key ?? `auto-${crypto.randomUUID()}`;
    try {
      const body = { ...request, key } as Schemas["AskBody"];
      const answer = await this.service.call("post", "/api/campaigns/{name}/decisions", { path: this.path, body });
      return answer.decisions[0];
    } catch (error) {
      const arm = this.service.options.fallback;
      if (arm === undefined || !(error instanceof ServiceError) || !(error.status === 0 || AGAIN.has(error.status))) throw error;
      return fallback(arm, key, request.worker ?? null);
    }
  }

  /** Tell the reward of a decision, or of its number or key; repeating it changes nothing. */
  async tell(decision: Decision | number | string, reward: number, more: Partial<Schemas["Reward"]> = {}): Promise<void> {
    if (typeof decision === "object" && decision.number === 0) {
      const { arm, key, worker } = decision;
      const missed = key?.startsWith(FALLBACK) ? key.slice(FALLBACK.length) : undefined; // it may have been decided
      const record = { ...more, arm, key, worker, reward, instead_of: missed } as Schemas["RecordBody"];
      await this.service.call("post", "/api/campaigns/{name}/records", { path: this.path, body: { records: [record], history: false } });
      return;
    }
    const which = typeof decision === "object" ? decision.number : decision;
    const body = { rewards: [{ ...more, decision: which, reward } as Schemas["Reward"]], strict: true };
    await this.service.call("post", "/api/campaigns/{name}/rewards", { path: this.path, body });
  }

  status() {
    return this.service.call("get", "/api/campaigns/{name}", { path: this.path });
  }

  private get path() {
    return { name: this.name };
  }
}

/** A decision that the service does not know of; it gets another key, since the service may have used this one. */
function fallback(arm: Arm, key: string, worker: string | null): Decision {
  const unknown = { expires: null, reward: null, told: null, choice: null, segment: null, weight: null, covariate: null };
  const asked = new Date().toISOString();
  return { ...unknown, number: 0, arm, key: `${FALLBACK}${key}`.slice(0, 200), worker, asked, probability: 1, state: "pending", by: "fallback", tags: {}, metrics: {} };
}
