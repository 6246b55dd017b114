/** Defines the uptime of a stream as clients see it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { nullable, Time } from '../../lib/schemas.ts';

export const StreamOutage = Type.Object(
  {
    startedAt: Type.String({
      format: 'date-time',
      description: 'Time since which the stream was off air. It may be before `from`.',
    }),
    endedAt: nullable(Time, 'Time at which the stream was on air again. Null while it is off air.'),
    seconds: Type.Number({ description: 'Length of the outage between `from` and `to`, in seconds.' }),
    code: nullable(Type.String(), 'Stable code of the cause. Null where none is known.'),
    message: nullable(Type.String(), 'The cause, as a sentence. Null where none is known.'),
    fix: nullable(Type.String(), 'What to do about it. Null where nothing has to be done.'),
  },
  { title: 'StreamOutage' },
);
export type StreamOutage = Static<typeof StreamOutage>;

/** Where an uptime is from. */
export const UPTIME_SOURCES = ['viewers', 'ingest'] as const;
export type UptimeSource = (typeof UPTIME_SOURCES)[number];

/** The outages that a record lists. CSV has all. */
export const MAX_OUTAGES = 200;

export const StreamUptime = Type.Object(
  {
    from: Type.String({ format: 'date-time', description: 'Begin of the range.' }),
    to: Type.String({ format: 'date-time', description: 'End of the range: now at the latest.' }),
    by: Type.Enum(UPTIME_SOURCES, {
      title: 'UptimeSource',
      description: '`viewers`: by what viewers see, as the platforms tell. `ingest`: by what destinations take.',
    }),
    wantedSeconds: Type.Number({
      description: 'Time in which the stream was meant to be on air: the sum of `onAirSeconds` and `offAirSeconds`.',
    }),
    onAirSeconds: Type.Number({
      description: 'Time in which a destination took media, and by `viewers` also showed it, in seconds.',
    }),
    offAirSeconds: Type.Number({
      description: 'Time in which none did, although the stream was meant to be on air: the sum of all outages.',
    }),
    unknownSeconds: Type.Number({
      description: 'Time of which that is not known. It counts neither as on air nor as off air.',
    }),
    uptimePercent: nullable(
      Type.Number({ minimum: 0, maximum: 100 }),
      'Share of `onAirSeconds` in `wantedSeconds`, rounded down to three decimals. Null if the stream was not meant to be on air.',
    ),
    outageCount: Type.Integer({ minimum: 0, description: 'Number of outages.' }),
    outages: Type.Array(StreamOutage, { description: `The latest ${MAX_OUTAGES} outages, newest first.` }),
    badgeUrl: Type.String({
      format: 'uri',
      description: 'Address of an image with the uptime, for any page. Everyone who has the address can see it.',
    }),
  },
  { title: 'StreamUptime' },
);
export type StreamUptime = Static<typeof StreamUptime>;
