/**
 * Lists the messages about invalid fields, for the CustomResourceDefinitions and for requests alike. `kubectl apply`
 * and REST so give the same words for the same mistake. A message follows the name of its field and does not contain
 * it, since the two name fields differently. Pure: no I/O, no clock.
 */

/**
 * A rule as a regular expression. JavaScript and CEL (RE2) both read it: so no flags, no look-around, no
 * back-references, no quotes.
 */
export interface TextRule {
  /** A pattern of the whole text, or */
  matches?: string;
  /** a pattern that must not occur in it. */
  lacks?: string;
  sentence: string;
}

/** Queries are held against them with each request. */
const compiled = new Map<string, RegExp>();
function compilePattern(source: string): RegExp {
  // linear-time: the patterns of our schemas, which are checked where they are written.
  const pattern = compiled.get(source) ?? new RegExp(source);
  compiled.set(source, pattern);
  return pattern;
}

/** Returns the message of the first rule that a text breaks; undefined when it breaks none. */
export const brokenRule = (rules: readonly TextRule[], text: string): string | undefined =>
  rules.find(
    ({ matches, lacks }) =>
      (matches !== undefined && !compilePattern(matches).test(text)) ||
      (lacks !== undefined && compilePattern(lacks).test(text)),
  )?.sentence;

/** C0, DEL and C1, which some terminals obey as well (ECMA-48, section 5.3). */
const CONTROL = '\\x00-\\x1f\\x7f-\\x9f';
const NO_CONTROL = 'must not contain control characters';

/** A name for people: control characters would garble lists and logs. */
export const DISPLAY_NAME_PATTERN = `^[^${CONTROL}]*$`;
export const DISPLAY_NAME: readonly TextRule[] = [{ matches: DISPLAY_NAME_PATTERN, sentence: NO_CONTROL }];

/** A reason that people read: a name that is not empty. */
export const REASON_PATTERN = `^ *[^${CONTROL}\\s][^${CONTROL}]*$`;
export const REASON: TextRule = { matches: REASON_PATTERN, sentence: 'must have words, and no control characters' };

/** A link to import from, as far as its text shows; its target is checked when it is fetched. */
const HTTP = '^[hH][tT][tT][pP][sS]?://';
export const LINK: readonly TextRule[] = [
  { matches: HTTP, sentence: 'must begin with http:// or https://' },
  { lacks: `${HTTP}([/?#]|$)`, sentence: 'must name a host, as https://example.com/video.mp4 does' },
  { lacks: '^[^/?#]*//[^/?#]*@', sentence: 'must not contain a user name or password' },
  { lacks: `[${CONTROL}]`, sentence: NO_CONTROL },
];

/** Where viewers see a stream, as far as its text shows; its target is checked when it is opened. */
export const WATCH_ADDRESS: readonly TextRule[] = [
  {
    matches: '^([hH][tT][tT][pP][sS]?|[rR][tT][mM][pP][sS]?)://[^/?#]',
    sentence: 'must begin with http://, https://, rtmp:// or rtmps://, and name a host',
  },
  { lacks: '^[^/?#]*//[^/?#]*@', sentence: 'must not contain a user name or password' },
  { lacks: `[${CONTROL}]`, sentence: NO_CONTROL },
];
export const TWITCH_CHANNEL: readonly TextRule[] = [
  {
    matches: '^[A-Za-z0-9_]{1,64}$',
    sentence: 'must be the login name or the id of a channel: letters, digits and "_"',
  },
];
export const YOUTUBE_VIDEO: readonly TextRule[] = [
  {
    matches: '^[A-Za-z0-9_-]{6,64}$',
    sentence: 'must be the id of a video, as aqz-KE-bpKQ in https://www.youtube.com/watch?v=aqz-KE-bpKQ',
  },
];

/** Names of Kubernetes objects that are referred to (RFC 1123 subdomain). */
export const NAME_PATTERN = '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$';
export const REFERENCE: readonly TextRule[] = [
  {
    matches: NAME_PATTERN,
    sentence: 'must be the name of a Kubernetes object: lower-case letters, digits, "-" and "."',
  },
];

/** The syntax of the names of labels in Kubernetes, without a prefix. */
export const LABEL_NAME: TextRule = {
  matches: '^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$',
  sentence: 'must be a label name: letters, digits, "-", "_" and ".", between letters or digits, and without a slash',
};

/** The syntax of label values in Kubernetes. */
export const LABEL_VALUE: TextRule = {
  matches: '^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$',
  sentence: 'must be a label value: letters, digits, "-", "_" and "."',
};

const field = (item: string): string => `(${item})(,(${item}))*`;
const span = (value: string): string => `(\\*|\\?|${value}(-${value})?)(/[0-9]{1,2})?`;
const DAY = '(0?[1-9]|[12][0-9]|3[01])';
const WEEKDAY = '(0?[0-7]|[A-Za-z]{3})';
/** Five fields, as croner reads them; which names of days and months there are is left to it. */
const CRON_FIELDS = [
  field(span('[0-5]?[0-9]')),
  field(span('([01]?[0-9]|2[0-3])')),
  field(`${span(DAY)}|${DAY}[Ww]|[Ll][Ww]?`),
  field(span('(0?[1-9]|1[0-2]|[A-Za-z]{3})')),
  `\\+?${field(`${span(WEEKDAY)}(#([1-5]|[Ll]))?|${WEEKDAY}?[Ll]`)}`,
];
export const CRON: TextRule = {
  matches: `^\\s*${CRON_FIELDS.join('\\s+')}\\s*$`,
  sentence: 'is not a cron expression; give minute, hour, day of month, month and day of week, such as 0 18 * * 5',
};
export const NEVER = 'describes a time that never comes';

/** Fields that a text of an overlay may name. */
export const TEMPLATE_FIELDS = ['item.title', 'item.artist', 'item.album', 'playlist.name', 'stream.name'] as const;
const FIELDS = TEMPLATE_FIELDS.map((name) => name.replace('.', '[.]')).join('|');
/** The text of an overlay: it may have lines, and two braces begin a field. */
export const OVERLAY_TEXT: readonly TextRule[] = [
  {
    matches: `^([^{]|\\{[^{]|\\{\\{ *(${FIELDS}) *\\}\\})*\\{?$`,
    sentence: `must not have {{ but for a field: ${TEMPLATE_FIELDS.map((name) => `{{${name}}}`).join(', ')}`,
  },
  { lacks: '[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f]', sentence: `${NO_CONTROL} but for line breaks` },
];

/** Offsets such as +02:00 are no zones: they know nothing of summer time. */
export const TIME_ZONE: TextRule = {
  matches: '^[A-Za-z][-+A-Za-z0-9_]*(/[-+A-Za-z0-9_]+)*$',
  sentence: 'is not a time zone; give an IANA name, such as Europe/Berlin',
};

/** Conditions that others write; the operator's own conditions gate nothing. */
export const GATE: readonly TextRule[] = [
  {
    matches: '^([a-z0-9]([-.a-z0-9]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
    sentence: 'must be a condition type, such as CreditAvailable',
  },
  {
    lacks:
      '^(DestinationReady|MediaReady|ScheduleValid|PodScheduled|Live|Progressing|Degraded|OnAirForViewers|Ready|Reconciling|Stalled|SessionsMetered|TimekeepingPlausible)$',
    sentence: 'must not name a condition that the operator sets',
  },
];

/** Rules between fields, and of lists. */
export const SENTENCES = {
  oneWhen: 'must have exactly one of everySeconds, eachItems, at and window',
  oneRuleSource: 'must name either a playlist or an upload',
  noMedia: 'is required, unless playlists are given',
  twoMedia: 'cannot be given together with an upload',
  noDestination: 'is required',
  destinationsTwice: 'cannot be given together with destinations',
  noneEnabled: 'must have an enabled entry: to send nothing, stop the stream',
  isrc: 'must be an International Standard Recording Code, such as US-RC1-76-07839',
  licenseUrl: 'must be an http or https URL of at most 256 characters, without a password',
  imageIsNoItem: 'is an image, which is drawn over what plays. To play the picture itself, upload it as a video.',
  rightSide: 'must be given together with audio, as another track',
  oneOverlay: 'must have either text or a picture',
  layersOrScene: 'must have either layers or a scene',
  requiredOfScene: 'must not have required with a scene, which says that itself',
  overlayOfText: 'must have font, bold and colours for a text alone',
  overlayShow: 'must have one of firstSeconds, lastSeconds, or everySeconds with forSeconds, which is less',
  cardsOfSongs: 'must be given together with an audio playlist, whose songs have the cards',
  songsOfCards: 'cannot be empty while the stream has cards; send `cards` null too',
  oneSource: 'must have either url or sent',
  tooMuchSent: 'must not have a receivedBytes greater than sizeBytes',
  platformUrl: 'must be given for the kind watch: the address that viewers open',
  platformChannel: 'must be given for the kind twitch: the login name or the id of the channel',
  platformVideo: 'must be given for the kind youtube, unless a refresh token is',
  platformRepair: 'may be Repair for the kind youtube with a refresh token alone',
  endBeforeStart: 'must be after the start',
  twice: 'must not contain duplicates',
  streamNameTooLong: (limit: number) => `must have at most ${limit} characters, because its pod is named after it`,
  uploadNameTooLong: (limit: number) => `must have at most ${limit} characters, because its Jobs are named after it`,
  templateTooLarge: (limit: number) => `must have at most ${limit} characters as JSON; remove long texts and terms`,
  positiveQuantity: 'must be quantities above 0, such as 500m or 2Gi; leave a limit out to have none',
  quantity: 'must be quantities of 0 or more, such as 50m or 96Mi',
  ownLabels: 'must not set keys that the operator sets: those of loopstream.dev and app.kubernetes.io',
  security: 'must not weaken the pod’s confinement: it stays within the Pod Security level restricted',
  fixed: (kind: string) => `cannot be changed; create another ${kind}`,
} as const;

/** Returns the message of a pattern in a request's schema; undefined when it has none of its own. */
export const patternSentence = (pattern: unknown): string | undefined =>
  [...DISPLAY_NAME, REASON, LABEL_NAME, LABEL_VALUE].find(({ matches }) => matches === pattern)?.sentence;
