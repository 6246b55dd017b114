/** Declares a change of an account's objects, as clients receive it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

/** Nouns whose changes only reach followers that may read billing. */
export const MONEY_NOUNS = ['balance', 'topUp', 'invoice', 'deposit'] as const;
export type MoneyNoun = (typeof MONEY_NOUNS)[number];
export const CHANGING_NOUNS = ['stream', 'destination', 'upload', 'playlist', ...MONEY_NOUNS] as const;
export type ChangingNoun = (typeof CHANGING_NOUNS)[number];
export const CHANGES = ['created', 'updated', 'deleted'] as const;

export const Change = Type.Object(
  {
    noun: Type.Enum(CHANGING_NOUNS, {
      description:
        'What kind of thing has changed: `deposit` is one of crypto currencies. What has to do with money is told of only with ' +
        'the scope billing.',
    }),
    id: Type.String({
      description: 'Which one: the id, of an upload the objectID, of the balance that of the account.',
    }),
    change: Type.Enum(CHANGES, {
      description: 'What has become of it; of changes that follow one another fast, one is told.',
    }),
  },
  { title: 'Change' },
);
export type Change = Static<typeof Change>;
