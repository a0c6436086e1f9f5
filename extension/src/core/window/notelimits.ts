// Of the user's notes to agents: a whole note fits into one line of the window protocol.

/** What a note is about, at most. */
export const annotationsLimit = 10;
/** Of what the user writes, and of an address, in characters. */
export const textLimit = 2_000;
/** Of an element's name, and of a page's title. */
export const elementLimit = 300;
/** Of a picture, in characters of base64. */
export const pictureLimit = 512 * 1024;
