/** Where the installed VS Code is. */
export const installed: string;
/** Installs it unless it is there. */
export function setUp(): void;
