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

/** The list is kept at this length; only where as many pods are on air it can be longer. */
export const MAX_SESSIONS = 32;

export const Session = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Rises by one with each session of the stream.' }),
  through: Type.Optional(
    Type.Integer({ description: 'Where several sessions have become one: the number of the last of them.' }),
  ),
  podUID: Type.String({ description: 'UID of the pod.' }),
  run: Type.Optional(Type.Integer({ description: 'Which process of the pod, as it calls itself.' })),
  startedAt: Type.String({ format: 'date-time', description: 'When a destination first took media.' }),
  endedAt: Type.Optional(
    Type.String({ format: 'date-time', description: 'When one took media last; missing while the session is open.' }),
  ),
  onAirSeconds: Type.Number({
    minimum: 0,
    description: 'Seconds in which a destination took media; of an open session at most what has been written of it.',
  }),
});
export type Session = Static<typeof Session>;

/** Number of the last session that an entry stands for. */
export const lastNumber = ({ number, through }: Session): number => through ?? number;
