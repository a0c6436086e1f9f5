fetch("/api/profile").then(r => r.json()).then(p => console.info("profile of", p.name))

document.querySelector("#save").onclick = async () => {
  const values = Object.fromEntries(new FormData(document.querySelector("form")))
  const answer = await fetch("/api/settings", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(values) })
  const saved = await answer.json()
  document.querySelector("h1").textContent = "Saved at " + saved.settings.time
}
