/** Describes what the tables of this folder say about each code. */

export interface CodeText {
  /** The event or state, as a sentence. A message begins with it, and adds what was measured. */
  meaning: string;
  /** The way on, for everybody who sees the code: by an API, on the page or in a terminal. */
  fix: string;
}

/** The reason of a condition or an Event: `picture_held` is `PictureHeld`. */
export const toPascalCase = (code: string): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
