/**
 * Declares the intervals in which a stream was on air, as its status keeps them for meters.
 *
 * A session is one process of one pod, from the first media that a destination took. It is open until that process or
 * its pod has ended. Its seconds are those in which a destination took media, so neither starting nor reconnecting.
 * They are written when it closes, and once an hour while a metered stream's session is open. They are never above the
 * truth.
 *
 * `number` rises by one with each session of a stream and never comes twice. A meter acknowledges by writing
 * `status.acknowledgedSession` under a field manager of its own: every session up to that number is closed and counted.
 * It may not acknowledge beyond an open session. No second is lost until then. Where the list would grow too long, the
 * oldest closed sessions become one, from `number` to `through`, with the sum of their seconds. So a meter stores its
 * counts by number, and of a merged session it counts the uncounted rest. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { SESSION_ENDS } from '../../lib/codes/streams.ts';

/** The list is kept at this length; only where as many pods are on air it can be longer. */
export const MAX_SESSIONS = 32;

export const Session = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Number of the session. Each session of a stream is one higher than the last.',
  }),
  through: Type.Optional(
    Type.Integer({
      description:
        'Last session number that this entry covers. Set only where several sessions were merged into one entry.',
    }),
  ),
  podUID: Type.String({ description: 'UID of the pod that was on air.' }),
  run: Type.Optional(Type.Integer({ description: 'Process of the pod, by the number that it reports.' })),
  startedAt: Type.String({ format: 'date-time', description: 'Time at which a destination first accepted media.' }),
  endedAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Time at which a destination last accepted media. Not set while the session is open.',
    }),
  ),
  onAirSeconds: Type.Number({
    minimum: 0,
    description:
      'Time for which a destination accepted media, in seconds. It may lag behind while the session is open.',
  }),
  endReason: Type.Optional(
    Type.String({
      maxLength: 100,
      description: `Why the session ended: ${Object.keys(SESSION_ENDS).join(', ')}. Set while the session is open if its pod is going. Not set if the reason is unknown.`,
    }),
  ),
});
export type Session = Static<typeof Session>;

/** Number of the last session that an entry stands for. */
export const lastNumber = ({ number, through }: Session): number => through ?? number;
