// A review as an agent presents it.
export const sampleReview = `# The name is text now

The greeting in [app.js](app.js#L5) put the name into the page as HTML.

\`\`\`diff
--- a/app.js
+++ b/app.js
@@ -6,2 +6,2 @@
   console.log(thanks);
-  answer.innerHTML = thanks;
+  answer.textContent = thanks;
\`\`\`

| Name | before | now |
| --- | --- | --- |
| Ada | Thank you, Ada | Thank you, Ada |
| \`<b>\` | Thank you, | Thank you, \`<b>\` |

## Before you merge

- [x] tried in the browser that you debug
- [ ] the basket greets in the same way
`;
