/** One change of what an account has, as clients are told of it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

export const CHANGING_NOUNS = ['stream', 'destination', 'upload', 'playlist'] as const;
export type ChangingNoun = (typeof CHANGING_NOUNS)[number];

export const Change = Type.Object(
  {
    noun: Type.Enum(CHANGING_NOUNS, { description: 'What kind of thing has changed.' }),
    id: Type.String({ description: 'Which one: the id, of an upload the objectID.' }),
    change: Type.Enum(['created', 'updated', 'deleted'], {
      description: 'What has become of it; of changes that follow one another fast, one is told.',
    }),
  },
  { title: 'Change' },
);
export type Change = Static<typeof Change>;
