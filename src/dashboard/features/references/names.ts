/** Sentences of the server know things by their ids; people know them by the names that they gave. Pure: no I/O, no clock. */
import { quote } from '../../lib/isolate.ts';

/** The API makes such ids; an object made with kubectl has a name of its own, which people know. */
const ID = /"((?:str|upl|pls|scn|dst)-[0-9a-z]{26})"/g;

/** Each once. */
export const idsIn = (text: string): string[] => [...new Set(Array.from(text.matchAll(ID), ([, id = '']) => id))];

/** Ids whose names are not known stay as they are. */
export const withNames = (text: string, names: ReadonlyMap<string, string>): string =>
  text.replace(ID, (quoted, id: string) => {
    const name = names.get(id);
    return name === undefined ? quoted : quote(name);
  });
