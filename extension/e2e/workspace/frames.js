// The shop again, as another site: the browser gives it a process of its own.
const shop = document.createElement("iframe");
shop.title = "Shop";
shop.src = `http://localhost:${location.port}/?inside`;
document.body.append(shop);

const worker = new Worker("worker.js");
worker.onmessage = ({ data }) => {
  document.getElementById("sum").textContent = data;
};
worker.postMessage([6, 7]);
