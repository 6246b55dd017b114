/** Declares a change of an account's objects, as clients receive it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

/** Nouns whose changes only reach followers that may read billing. */
export const MONEY_NOUNS = ['balance', 'topUp', 'invoice', 'deposit'] as const;
export type MoneyNoun = (typeof MONEY_NOUNS)[number];
export const CHANGING_NOUNS = ['stream', 'destination', 'upload', 'playlist', 'scene', ...MONEY_NOUNS] as const;
export type ChangingNoun = (typeof CHANGING_NOUNS)[number];
export const CHANGES = ['created', 'updated', 'deleted'] as const;

export const Change = Type.Object(
  {
    noun: Type.Enum(CHANGING_NOUNS, {
      description:
        'Noun of the changed object. `deposit` is a crypto deposit. Changes of `balance`, `topUp`, `invoice` and `deposit` ' +
        'are sent only with the scope billing.',
    }),
    id: Type.String({
      description: 'Id of the changed object: the objectID of an upload, and the account id for the balance.',
    }),
    change: Type.Enum(CHANGES, {
      description: 'Kind of change. Several changes within a short time are reported as one.',
    }),
  },
  { title: 'Change' },
);
export type Change = Static<typeof Change>;
