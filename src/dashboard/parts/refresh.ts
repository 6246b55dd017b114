/** How often a list is read again while it is looked at, in milliseconds. */
export const REFRESH_MS = 5000;
