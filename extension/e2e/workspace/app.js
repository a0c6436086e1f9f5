const name = document.getElementById("name");
const answer = document.getElementById("answer");

function buy() {
  const thanks = `Thank you, ${name.value}`;
  console.log(thanks);
  answer.textContent = thanks;
}

document.getElementById("buy").addEventListener("click", buy);
console.log(`${location.search || "shop"} is ready`);
