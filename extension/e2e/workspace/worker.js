self.onmessage = ({ data: [a, b] }) => {
  self.postMessage(`The sum is ${a + b}`);
};
