// The site that every client is sent to: one page that asks for a name and greets, a second one,
// and something to fetch. The live one fetches and logs all the time.
import { createServer } from "node:http";

const shop = (name) => `<!doctype html><title>Shop ${name}</title>
<h1>Shop for ${name}</h1>
<label>Name <input id="name"></label>
<button id="buy" onclick="buy()">Buy</button>
<p id="answer"></p>
<a href="/next/${name}">Next</a>
<script>
async function buy() {
  const price = await (await fetch("/price/${name}")).json();
  const answer = "Thank you, " + document.getElementById("name").value + ": " + price.amount;
  document.getElementById("answer").textContent = answer;
  console.log(answer);
}
</script>`;

const live = (name) => `${shop(name)}
<style>#buy { color: rgb(1, 2, 3) }</style>
<script>
document.cookie = "basket=full";
setInterval(async () => console.log("the price is", await (await fetch("/price/${name}?live")).json()), 300);
</script>`;

/** Starts it; `url` has no slash at the end. */
export async function openSite() {
  const server = createServer((request, response) => {
    const [, kind, name] = request.url.split("/");
    if (kind === "shop") response.setHeader("content-type", "text/html").end(shop(name));
    else if (kind === "live") response.setHeader("content-type", "text/html").end(live(name));
    else if (kind === "next") response.setHeader("content-type", "text/html").end(`<title>Next ${name}</title>`);
    else if (kind === "price") response.setHeader("content-type", "application/json").end('{"amount":42}');
    else response.writeHead(404).end();
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
}
