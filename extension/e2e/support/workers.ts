/** How many test files run at a time. */
export const workers = 2;
