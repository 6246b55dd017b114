/** Makes the reason of a condition of a public code. Pure: no I/O, no clock. */

/** The reason of a condition or an Event: `picture_held` is `PictureHeld`. */
export const pascalCase = (code: string): string =>
  code.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
