/** Defines the rules of a playlist as clients see and send them, and checks them. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';
import { SENTENCES } from '../../../core/lib/sentences.ts';
import { MAX_RULES } from '../../../core/resources/playlist/rule-limits.ts';
import { type RuleSpec, RuleTerms } from '../../../core/resources/playlist/rules.ts';
import { findRecurrenceProblem } from '../../../core/resources/stream/recurrence.ts';
import type { FieldError } from '../../lib/errors.ts';

const { name, start, lateSeconds, after, count, pick, when } = RuleTerms.properties;
const { everySeconds, eachItems, at, window } = when.properties;
const STRICT = { additionalProperties: false };
const timeZone = Type.Optional(at.properties.timeZone);

export const RuleWhen = Type.Object(
  {
    everySeconds,
    eachItems,
    at: Type.Optional(
      Type.Object(
        { cron: at.properties.cron, timeZone },
        { ...STRICT, title: 'PlaylistRuleTimes', description: 'At times of the day.' },
      ),
    ),
    window: Type.Optional(
      Type.Object(
        { cron: window.properties.cron, timeZone, durationSeconds: window.properties.durationSeconds },
        {
          ...STRICT,
          title: 'PlaylistRuleWindow',
          description: 'In windows of time, in the place of the items of the playlist.',
        },
      ),
    ),
  },
  {
    ...STRICT,
    title: 'PlaylistRuleWhen',
    description: 'When the rule plays: exactly one of everySeconds, eachItems, at and window.',
  },
);

export const PlaylistRule = Type.Object(
  {
    name,
    when: RuleWhen,
    playlistID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'Playlist whose items the rule plays, without its rules.',
      }),
    ),
    uploadObjectID: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        description: 'objectID of the upload that the rule plays, in place of a playlist.',
      }),
    ),
    start: Type.Optional(start),
    lateSeconds: Type.Optional(lateSeconds),
    after: Type.Optional(after),
    count: Type.Optional(count),
    pick: Type.Optional(pick),
  },
  { ...STRICT, title: 'PlaylistRule' },
);
export type PlaylistRule = Static<typeof PlaylistRule>;

export const PlaylistRules = Type.Array(PlaylistRule, {
  maxItems: MAX_RULES,
  description: 'What else plays when, the most important rule first.',
});

const withZone = <T extends { timeZone?: string }>({ timeZone: zone = 'UTC', ...rest }: T) => ({
  ...rest,
  timeZone: zone,
});

export const toSpecRules = (rules: readonly PlaylistRule[]): RuleSpec[] =>
  rules.map(({ playlistID, uploadObjectID, when: { at: times, window: open, ...others }, ...terms }) => ({
    ...{ start: 'Border', lateSeconds: 120, after: 'Resume', count: 1, pick: 'Next' },
    ...terms,
    when: {
      ...others,
      ...(times && { at: withZone(times) }),
      ...(open && { window: withZone(open) }),
    },
    ...(playlistID !== undefined && { playlistName: playlistID }),
    ...(uploadObjectID !== undefined && { uploadName: uploadObjectID }),
  }));

export const toRules = (rules: readonly RuleSpec[] = []): PlaylistRule[] =>
  rules.map(({ playlistName, uploadName, ...terms }) => ({
    ...terms,
    ...(playlistName !== undefined && { playlistID: playlistName }),
    ...(uploadName !== undefined && { uploadObjectID: uploadName }),
  }));

interface Named {
  /** Returns why a rule cannot play a playlist; undefined where it can. */
  findPlaylistProblem(id: string): string | undefined;
  /** Lists what is wrong with an upload as an item. */
  checkUpload(id: string, path: string): FieldError[];
  now: Date;
}

/** Lists what is wrong with rules beyond their schema. */
export function checkRules(
  rules: readonly PlaylistRule[] = [],
  { findPlaylistProblem, checkUpload, now }: Named,
): FieldError[] {
  return rules.flatMap(({ name: own, when: given, playlistID, uploadObjectID }, index) => {
    const path = `/rules/${index}`;
    const twice = rules.findIndex((one) => one.name === own) < index;
    const chosen = [given.everySeconds, given.eachItems, given.at, given.window].filter((one) => one !== undefined);
    const problem = playlistID === undefined ? undefined : findPlaylistProblem(playlistID);
    const times = given.at ?? given.window;
    const wrong = times && findRecurrenceProblem({ durationSeconds: 60, ...withZone(times) }, now);
    return [
      ...(twice ? [{ path: `${path}/name`, message: SENTENCES.twice }] : []),
      ...(chosen.length === 1 ? [] : [{ path: `${path}/when`, message: SENTENCES.oneWhen }]),
      ...((playlistID === undefined) === (uploadObjectID === undefined)
        ? [{ path, message: SENTENCES.oneRuleSource }]
        : []),
      ...(problem === undefined ? [] : [{ path: `${path}/playlistID`, message: problem }]),
      ...(uploadObjectID === undefined ? [] : checkUpload(uploadObjectID, `${path}/uploadObjectID`)),
      ...(wrong ? [{ path: `${path}/when/${given.at ? 'at' : 'window'}/${wrong.field}`, message: wrong.message }] : []),
    ];
  });
}
