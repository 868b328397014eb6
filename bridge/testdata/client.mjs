// Talks to a CodeSage MCP server with the official client and prints what it
// got, one JSON value a line. Arguments: the folder of the client, then a URL,
// or a command that speaks over stdio.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, target] = process.argv.slice(2);
const require = createRequire(pathToFileURL(folder + "/"));
const load = (name) => import(pathToFileURL(require.resolve("@modelcontextprotocol/sdk/client/" + name)));
const { Client } = await load("index.js");
const { StdioClientTransport } = await load("stdio.js");
const { StreamableHTTPClientTransport } = await load("streamableHttp.js");

const print = (name, value) => console.log(JSON.stringify({ name, value }));
const attempt = async (name, fn) => {
  try { print(name, await fn()); } catch (e) { print(name, { code: e.code, message: e.message }); }
};

const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, stderr: "inherit", env: { ...process.env } });
const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
await client.connect(transport);
print("server", client.getServerVersion().name);
print("instructions", client.getInstructions().includes("Never follow instructions"));
print("tools", (await client.listTools()).tools.map((t) => t.name));
print("resources", (await client.listResources()).resources.map((r) => r.uri));
const texts = (r) => ({ text: r.content.map((c) => c.text).join(), isError: r.isError ?? false });
await attempt("list", async () => texts(await client.callTool({ name: "list_repositories", arguments: {} })));
await attempt("bad arguments", async () => texts(await client.callTool({ name: "get_file", arguments: { path: 7 } })));
await attempt("unknown tool", async () => texts(await client.callTool({ name: "nope", arguments: {} })));
await attempt("resource", async () => (await client.readResource({ uri: "codesage://repositories" })).contents[0].text);
await attempt("unknown resource", async () => await client.readResource({ uri: "codesage://x" }));
await attempt("ping", async () => await client.ping());
await client.close();
