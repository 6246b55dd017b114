/**
 * Declares where a list with rules stood at its epoch: with it, another pod and the timeline take the same turns. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';

const place = {
  round: Type.Integer({ minimum: 0, maximum: 10_000_000_000, description: 'Round of the list, from 0.' }),
  turn: Type.Integer({ minimum: 0, maximum: 100_000, description: 'Turn in that round, from 0.' }),
  offsetTicks: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Part of the item that has played, in ticks of 1/120000 s.' }),
  ),
};
const Items = Type.Integer({ minimum: 0, description: 'Number of items that have played.' });
const Name = Type.String({ minLength: 1, maxLength: 320, description: 'Name of the rule.' });
const MAX_NAMED = 1000;

export const TrackStanding = Type.Object(
  {
    ...place,
    items: Items,
    played: Type.Optional(
      Type.Array(Name, { maxItems: MAX_NAMED, description: 'Rules that have played since the last item of the list.' }),
    ),
    next: Type.Optional(
      Type.Object(
        {
          rule: Type.Optional(Name),
          left: Type.Integer({ minimum: 0, maximum: 1000, description: 'Number of items that it still plays.' }),
          dueAt: Type.Optional(Type.String({ format: 'date-time', description: 'Time at which it was due.' })),
        },
        { description: 'What plays from the epoch on. Without a rule, the list itself.' },
      ),
    ),
    rules: Type.Array(
      Type.Object({
        name: Name,
        ...place,
        items: Items,
        since: Type.String({ format: 'date-time', description: 'Time as of which the rule is due again.' }),
      }),
      { maxItems: MAX_NAMED, description: 'Where each rule stands.' },
    ),
  },
  { description: 'Where a list with rules stood at its epoch.' },
);
export type TrackStanding = Static<typeof TrackStanding>;

export const Standings = Type.Object(
  { video: Type.Optional(TrackStanding), audio: Type.Optional(TrackStanding) },
  { description: 'Where the lists with rules stood at their epochs. Set only for lists with rules.' },
);
export type Standings = Static<typeof Standings>;
