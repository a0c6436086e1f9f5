fetch("/api/profile").then(r => r.json()).then(p => console.info("profile of", p.name))
const headers = { "Content-Type": "application/json" }
document.querySelector("#save").onclick = async () => {
  const values = Object.fromEntries(new FormData(document.querySelector("form")))
  const answer = await fetch("/api/settings", { method: "POST", headers, body: JSON.stringify(values) })
  const saved = await answer.json()
  document.querySelector("h1").textContent = "Saved at " + saved.settings.time
}
