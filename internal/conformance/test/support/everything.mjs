// A page with all that an agent can do in one, for a test to repeat. It keeps nothing.
import { createServer } from "node:http";

const page = (title, body) => `<!doctype html><title>${title}</title>${body}`;

const pages = {
  "/": page(
    "Shop",
    `<h1>Shop</h1>
<form action="/hello"><label>Name <input name="name"></label><label>Password <input
  name="password" type="password"></label><button>Sign in</button></form>
<a href="/all">Everything</a>`,
  ),
  "/hello": page("Hello", `<p>Welcome back</p><a href="/all">Everything</a>`),
  "/all": page(
    "Everything",
    `<p id="log" role="status"></p>
<script>const log = (text) => (document.querySelector("#log").textContent = text)</script>
<label>Size <select onchange="log('size ' + value)"
  ><option>small</option><option value="xl">extra large</option></select></label>
<label><input type="checkbox" onchange="log('gift ' + checked)"> Gift</label>
<label>Coupon <input placeholder="TEA10" onkeydown="event.key === 'Escape' && log('escaped')"></label>
<label>Amount <input type="range" min="1" max="9" oninput="log('amount ' + value)"></label>
<ul aria-label="Teas">
<li>Green <button onclick="log('bought green')">Buy</button></li>
<li>Black <button onclick="log('bought black')">Buy</button></li>
</ul>
<button onclick="log(confirm('Really?') ? 'said ' + prompt('Why?') : 'no')">Delete</button>
<button onclick="setTimeout(() => log(confirm('Still there?') ? 'here' : 'gone'), 700)">Wait</button>
<button onclick="log('menu')" oncontextmenu="log('context'); return false" ondblclick="log('twice')">Menu</button>
<button onclick="document.querySelector('input[hidden]').click()">Choose a file</button><input
  type="file" hidden onchange="log('got ' + files[0].name)">
<label>Photo <input type="file" onchange="log('photo ' + files[0].name)"></label>
<div id="from" draggable="true" style="width:80px;height:30px"
  ondragstart="event.dataTransfer.setData('text/plain', 'card')">Card</div>
<div id="to" style="width:80px;height:60px;border:1px solid" ondragover="event.preventDefault()"
  ondrop="event.preventDefault(); log('dropped ' + event.dataTransfer.getData('text/plain'))">Here</div>
<button onclick="document.querySelector('[placeholder]').value = 'TEA20';
  document.querySelector('input[type=checkbox]').checked = false">Best coupon</button>
<button onclick="log('sent at ' + new Date().toISOString())">Send</button>
<button onclick="document.querySelector('dialog').showModal()">Details</button>
<dialog aria-label="All details"><button onclick="this.parentElement.close();
  this.parentElement.insertAdjacentHTML('afterend', '<p role=alert>Nothing was saved</p><p>Try again</p><p>Now')"
  >Close</button></dialog>
<canvas aria-label="Plan" width="100" height="80" style="border:3px solid"
  onclick="log('plan ' + event.offsetX + ' ' + event.offsetY)"></canvas>
<a href="/help" target="_blank">Help</a>
<iframe id="pay" srcdoc="<!doctype html><label>Card number <input></label><button
  onclick='document.body.append(document.querySelector(&quot;input&quot;).value + &quot; paid&quot;)'>Pay</button>"
  ></iframe>
<button onclick="setTimeout(() => log('late news'), 300)">News</button>
<button onclick="fetch('/news').then(
  async (r) => log(r.status + ' ' + (await r.text()) + ' ' + r.headers.get('X-Now')),
  () => log('no network'))">Fetch</button>`,
  ),
  "/help": page("Help", `<h1>Help</h1><button onclick="document.body.append('Called')">Call</button>`),
};

/** Starts it; `url` has no slash at the end. */
export async function openEverything() {
  const server = createServer((request, response) => {
    const body = pages[new URL(request.url, "http://site").pathname];
    response.writeHead(body ? 200 : 404, { "content-type": "text/html" }).end(body);
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
