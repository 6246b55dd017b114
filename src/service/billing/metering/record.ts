/** Declares a session of a stream as clients see it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

const SessionEnd = Type.Object(
  {
    code: Type.String({ description: 'Stable code, with a page at /docs/errors/{code}.' }),
    message: Type.String({ description: 'What ended the session.' }),
    fix: Type.String({ description: 'What to do, if anything.' }),
  },
  { title: 'StreamSessionEnd' },
);

export const StreamSession = Type.Object(
  {
    number: Type.Integer({
      minimum: 1,
      description: 'Number of the session within the stream. A later session has a higher number.',
    }),
    startedAt: Type.String({ format: 'date-time', description: 'Time at which a destination first accepted media.' }),
    endedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Time at which a destination last accepted media. Null while the session is on air.',
    }),
    onAirSeconds: Type.Number({
      description: 'Time for which a destination accepted media, in seconds: without reconnecting.',
    }),
    credits: Type.Union([Type.String({ pattern: '^[0-9]+$' }), Type.Null()], {
      description:
        'Cost of the session so far. In credits, as a string: 10,000 credits are one unit of money. Null where streams cost nothing.',
    }),
    creditsEstimated: Type.Boolean({
      description: 'True while some of the time is not charged yet: its cost is then estimated by the current price.',
    }),
    end: Type.Union([SessionEnd, Type.Null()], {
      description: 'Why the session ended. Null while it is on air.',
    }),
  },
  { title: 'StreamSession' },
);
export type StreamSession = Static<typeof StreamSession>;
