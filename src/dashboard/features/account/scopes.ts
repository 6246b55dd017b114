/** Explains the scopes of a program in words that people know. Pure: no I/O, no clock. */

export interface ScopeMeaning {
  /** As a sentence's end: "It will be able to …". */
  text: string;
  /** Allows acts that cannot be taken back. */
  grave: boolean;
}

/** By the text behind the prefix, which each installation chooses. */
const OF_THE_API: Record<string, ScopeMeaning> = {
  read: {
    text: 'See your streams, uploads, playlists and destinations, but never a stream key',
    grave: false,
  },
  write: {
    text: 'Create and change streams, uploads, playlists and destinations, and start and stop what is on air',
    grave: false,
  },
  destructive: { text: 'Delete streams, uploads, playlists and destinations permanently', grave: true },
  billing: { text: 'See your payments and usage, and create top-up links', grave: true },
};

const OF_THE_PERSON: Record<string, ScopeMeaning> = {
  openid: { text: 'See that you are signed in', grave: false },
  profile: { text: 'See your name', grave: false },
  email: { text: 'See your e-mail address', grave: false },
  offline_access: { text: 'Stay connected while you are away, until you disconnect the app', grave: false },
};

/** One that is not known is shown by its own name, and taken to be grave. */
export const getMeaning = (scope: string): ScopeMeaning =>
  OF_THE_PERSON[scope] ?? OF_THE_API[scope.slice(scope.indexOf(':') + 1)] ?? { text: scope, grave: true };

/** Each once, the grave ones last. */
export function listMeanings(scopes: readonly string[]): ScopeMeaning[] {
  const all = [...new Set(scopes)].map(getMeaning);
  return [...all.filter(({ grave }) => !grave), ...all.filter(({ grave }) => grave)];
}
