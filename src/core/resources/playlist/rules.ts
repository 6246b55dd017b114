/**
 * Declares the rules of a playlist: what is played between its items, and in the place of them at some times of the day. Rules are a part of
 * a version, as the items are. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { LEAST_EVERY_SECONDS, MAX_LATE_SECONDS } from './rule-limits.ts';

export const RULE_STARTS = ['Border', 'Cut'] as const;
export const RULE_AFTERS = ['Resume', 'Next', 'Restart'] as const;
export const RULE_PICKS = ['Next', 'Shuffle'] as const;

const cron = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const timeZone = Type.String({
  minLength: 1,
  maxLength: 64,
  default: 'UTC',
  description: 'IANA time zone of the cron expression, e.g. Europe/Berlin. Defaults to UTC.',
});

const When = Type.Object(
  {
    everySeconds: Type.Optional(
      Type.Integer({
        minimum: LEAST_EVERY_SECONDS,
        maximum: 7 * 86_400,
        description: 'So many seconds after the rule has played last, from 10 to 604800.',
      }),
    ),
    eachItems: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Behind so many items since the rule has played last.' }),
    ),
    at: Type.Optional(
      Type.Object(
        { cron: cron('Times, as a cron expression of five fields.'), timeZone },
        { description: 'At times of the day.' },
      ),
    ),
    window: Type.Optional(
      Type.Object(
        {
          cron: cron('Start of each window, as a cron expression of five fields.'),
          timeZone,
          durationSeconds: Type.Integer({
            minimum: 60,
            maximum: 31 * 86_400,
            description: 'Length of each window, in seconds, from 60 to 2678400 (31 days).',
          }),
        },
        { description: 'In windows of time, in the place of the items of the playlist.' },
      ),
    ),
  },
  { description: 'When the rule plays: exactly one of everySeconds, eachItems, at and window.' },
);

/** When and how a rule plays, without what. */
export const RuleTerms = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 63, description: 'Name of the rule, unique in the playlist.' }),
  when: When,
  start: Type.Enum(RULE_STARTS, {
    default: 'Border',
    description:
      'Border waits for the end of the item that plays. Cut ends that at a keyframe, 2 seconds later at most. A rule of eachItems never cuts.',
  }),
  lateSeconds: Type.Integer({
    minimum: 0,
    maximum: MAX_LATE_SECONDS,
    default: 120,
    description:
      'Longest delay, in seconds. A rule that would be later is dropped. A window plays as long as it is open.',
  }),
  after: Type.Enum(RULE_AFTERS, {
    default: 'Resume',
    description:
      'How an item that was cut goes on: from where it was cut (Resume), not at all (Next), or from its beginning (Restart).',
  }),
  count: Type.Integer({
    minimum: 1,
    maximum: 100,
    default: 1,
    description: 'Number of items that play, one after the other.',
  }),
  pick: Type.Enum(RULE_PICKS, { default: 'Next', description: 'The order of its items: as listed, or shuffled.' }),
});
export type RuleTerms = Static<typeof RuleTerms>;

export const PlaylistRule = Type.Object({
  ...RuleTerms.properties,
  playlistName: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description:
        'Name of a Playlist in the same namespace whose items the rule plays. Its own rules do not hold then.',
    }),
  ),
  uploadName: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      description: 'Name of an Upload in the same namespace that the rule plays.',
    }),
  ),
});
export type RuleSpec = Static<typeof PlaylistRule>;
