// Asks a codesage server with the official client, over Streamable HTTP when
// the argument is a URL, else over the bridge of that program; prints JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const target = process.argv[2];
const transport = target.startsWith("http")
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: ["bridge"], env: { ...process.env }, stderr: "ignore" });
const client = new Client({ name: "test", version: "1" }, { capabilities: {} });
await client.connect(transport);

const text = async (name, args) => {
  const answer = await client.callTool({ name, arguments: args });
  return (answer.isError ? "error: " : "") + answer.content[0].text;
};
const missing = await client.readResource({ uri: "codesage://repositories/99/files" }).then(
  () => "was read", (e) => `${e.code} ${e.message}`);
console.log(JSON.stringify({
  server: client.getServerVersion().name,
  listed: (await client.listTools()).tools.map((t) => t.name).join(),
  found: await text("search_code", { query: "greet", repository: "demo" }),
  refused: await text("get_file", { path: 7 }),
  unknown: await text("nope", {}),
  resource: (await client.readResource({ uri: "codesage://repositories" })).contents[0].text,
  missing,
}));
await client.close();
