// What test_typescript.py lets the compiled client do: argv is the client, the address of a proxy, and a token.
const [, , client, url, token] = process.argv;
const { Service, ServiceError } = await import(client);
const told = {};
const switched = (mode) => fetch(`${url}/proxy/${mode}`);
const campaign = new Service(url, { token }).campaign("desks");
const failure = async (work) => { try { await work(); return null; } catch (error) { return error instanceof ServiceError ? { status: error.status, type: error.type } : String(error); } };

// The service has made the decision, but its answer is lost: the next attempt has the same key.
await switched("lose-2");
const first = await campaign.ask();
await campaign.tell(first, 0.5);
await switched("lose-2");
await campaign.tell(first, 0.5);
told.first = first;
told.again = await campaign.ask({ key: first.key });
told.conflict = await failure(() => campaign.tell(first, 0.7));
told.unknown = await failure(() => new Service(url, { token }).campaign("nothing").ask());
told.forbidden = await failure(() => new Service(url, { token: "x".repeat(40) }).campaign("desks").status());

// Nothing answers: within the deadline an error, or the fallback, which is recorded when the service is back.
await switched("mute");
const short = new Service(url, { token, timeout: 400 });
let begin = Date.now();
told.silent = await failure(() => short.campaign("desks").ask());
told.seconds = (Date.now() - begin) / 1000;
const careful = new Service(url, { token, timeout: 400, fallback: "carry" }).campaign("desks");
const spare = await careful.ask({ key: "order-1", worker: "node" });
await switched("forward");
await careful.tell(spare, -0.25);
await careful.tell(spare, -0.25);
told.spare = spare;
told.status = await campaign.status();
told.log = (await new Service(url, { token }).call("get", "/api/campaigns/{name}/log", { path: { name: "desks" }, query: { count: 2 } })).entries.length;
console.log(JSON.stringify(told));
