/**
 * Lists rules of our kinds that types cannot express, as CEL: rules across fields, immutable fields, patterns. Their
 * messages are those of requests (src/core/lib/sentences.ts). Pure: no I/O, no clock.
 *
 * Objects stored before a rule existed stay usable: the API server does not check fields that a write leaves unchanged
 * (ratcheting). It cannot do so for the root, which every write changes. So the rules there check at creation alone.
 */
import {
  CRON,
  DISPLAY_NAME,
  GATE,
  LABEL_VALUE,
  LINK,
  OVERLAY_TEXT,
  REASON,
  REFERENCE,
  SENTENCES,
  type TextRule,
  TIME_ZONE,
  TWITCH_CHANNEL,
  WATCH_ADDRESS,
  YOUTUBE_VIDEO,
} from '../../lib/sentences.ts';
import { OWN_PREFIXES, podName } from '../common/names.ts';
import { MAX_TEMPLATE_CHARACTERS, Template } from '../stream/template.ts';
import { type Additions, type CelRule, toStructural } from './schema.ts';
import { measureText } from './size-rule.ts';

/** A pod's name becomes its host name and the value of labels, which may have 63 characters. */
const MAX_STREAM_NAME = 63 - podName('').length;
/** Upload names become names of Jobs: the longest is `<name>-2160p60`. */
const MAX_UPLOAD_NAME = 63 - '-2160p60'.length;

const rules = (...list: CelRule[]) => ({ 'x-kubernetes-validations': list });
const text = (list: readonly TextRule[]) =>
  rules(
    ...list.flatMap(({ matches, lacks, sentence: message }) => [
      ...(matches === undefined ? [] : [{ rule: `self.matches(r'${matches}')`, message }]),
      ...(lacks === undefined ? [] : [{ rule: `!self.matches(r'${lacks}')`, message }]),
    ]),
  );
/** A transition rule: it asks only where there was a value before. */
const fixed = (kind: string): CelRule => ({
  rule: 'self == oldSelf',
  message: SENTENCES.fixed(kind),
  reason: 'FieldValueForbidden',
});
const listMap = (...keys: string[]) => ({
  'x-kubernetes-list-type': 'map' as const,
  'x-kubernetes-list-map-keys': keys,
});
/** A name cannot be changed, and an object whose name was accepted once must be able to lose its finalizer. */
const maxName = (length: number, message: string) =>
  rules({
    rule: `oldSelf.hasValue() || self.metadata.name.size() <= ${length}`,
    optionalOldSelf: true,
    message,
    fieldPath: '.metadata.name',
  });
// With the reason FieldValueDuplicate the API server leaves the message out.
const unique = rules({ rule: 'self.all(a, self.exists_one(b, a == b))', message: SENTENCES.twice });

const noKeyBelow = (prefixes: readonly string[], message: string): CelRule => ({
  rule: `self.all(key, ${prefixes.map((prefix) => `!key.startsWith('${prefix}')`).join(' && ')})`,
  message,
});
const labelValues: CelRule = {
  rule: `self.all(key, self[key].matches(r'${LABEL_VALUE.matches}'))`,
  message: LABEL_VALUE.sentence,
};
/** Annotations by which a container runtime confines a container less (Pod Security Standards, baseline). */
const CONFINEMENT = ['container.apparmor.security.beta.kubernetes.io/', 'seccomp.security.alpha.kubernetes.io/'].concat(
  'container.seccomp.security.alpha.kubernetes.io/',
);
/** Kubelet takes a limit of 0 for none, and a pod with a negative quantity fails at each try. */
const positive: CelRule = {
  rule: "self.all(key, isQuantity(string(self[key])) && quantity(string(self[key])).isGreaterThan(quantity('0')))",
  message: SENTENCES.positiveQuantity,
};
const notNegative: CelRule = {
  rule: "self.all(key, isQuantity(string(self[key])) && !quantity(string(self[key])).isLessThan(quantity('0')))",
  message: SENTENCES.quantity,
};
const OWN = noKeyBelow(OWN_PREFIXES, SENTENCES.ownLabels);

const PLAYLISTS_GIVEN = 'has(self.playlistNames) && size(self.playlistNames) > 0';
/**
 * A condition belongs to one manager as a whole: nobody sets a part of one. For each of its fields, managed fields would take 20 bytes
 * in each object, and kube-apiserver would compare them at each write.
 */
const CONDITIONS = {
  'status.conditions': listMap('type'),
  'status.conditions[]': { 'x-kubernetes-map-type': 'atomic' as const },
};

/** Rules of a layer at `path`. */
const layerRules = (path: string): Additions => ({
  [path]: rules(
    { rule: 'has(self.text) != has(self.imageUploadName)', message: SENTENCES.oneOverlay },
    {
      rule: `has(self.text) || !(${['font', 'bold', 'color', 'outlineColor', 'boxColor'].map((name) => `has(self.${name})`).join(' || ')})`,
      message: SENTENCES.overlayOfText,
    },
  ),
  [`${path}.text`]: text(OVERLAY_TEXT),
  [`${path}.imageUploadName`]: text(REFERENCE),
  [`${path}.show`]: rules({
    rule:
      '[has(self.firstSeconds), has(self.lastSeconds), has(self.everySeconds)].exists_one(given, given) && ' +
      'has(self.everySeconds) == has(self.forSeconds) && (!has(self.everySeconds) || self.forSeconds < self.everySeconds)',
    message: SENTENCES.overlayShow,
  }),
});

export const SCENE_RULES: Additions = { 'spec.displayName': text(DISPLAY_NAME), ...layerRules('spec.layers[]') };

export const LOOPSTREAM_RULES: Additions = {
  '': maxName(MAX_STREAM_NAME, SENTENCES.streamNameTooLong(MAX_STREAM_NAME)),
  spec: rules(
    {
      rule: `has(self.uploadName) || (${PLAYLISTS_GIVEN})`,
      message: SENTENCES.noMedia,
      reason: 'FieldValueRequired',
      fieldPath: '.uploadName',
    },
    {
      rule: `!has(self.uploadName) || !(${PLAYLISTS_GIVEN})`,
      message: SENTENCES.twoMedia,
      reason: 'FieldValueForbidden',
      fieldPath: '.playlistNames',
    },
    {
      rule: 'has(self.destinationNames) || has(self.destinations)',
      message: SENTENCES.noDestination,
      reason: 'FieldValueRequired',
      fieldPath: '.destinationNames',
    },
    {
      rule: '!has(self.destinationNames) || !has(self.destinations)',
      message: SENTENCES.destinationsTwice,
      reason: 'FieldValueForbidden',
      fieldPath: '.destinationNames',
    },
    {
      rule: '!has(self.cards) || has(self.audioPlaylistNames) && size(self.audioPlaylistNames) > 0',
      message: SENTENCES.cardsOfSongs,
      reason: 'FieldValueForbidden',
      fieldPath: '.cards',
    },
  ),
  'spec.displayName': text(DISPLAY_NAME),
  'spec.uploadName': text(REFERENCE),
  'spec.playlistNames': unique,
  'spec.playlistNames[]': text(REFERENCE),
  'spec.audioPlaylistNames': unique,
  'spec.audioPlaylistNames[]': text(REFERENCE),
  // The set names the entry that comes twice, the rule says what is wrong with that.
  'spec.destinationNames': { 'x-kubernetes-list-type': 'set', ...unique },
  'spec.destinationNames[]': text(REFERENCE),
  'spec.destinations': {
    ...listMap('name'),
    ...rules({ rule: 'self.exists(one, !has(one.enabled) || one.enabled)', message: SENTENCES.noneEnabled }),
  },
  'spec.destinations[].name': text(REFERENCE),
  'spec.schedule': rules({
    rule: '!has(self.startAt) || !has(self.endAt) || self.endAt > self.startAt',
    message: SENTENCES.endBeforeStart,
    fieldPath: '.endAt',
  }),
  'spec.schedule.recurrence.cron': text([CRON]),
  'spec.schedule.recurrence.timeZone': text([TIME_ZONE]),
  'spec.overlays': rules(
    { rule: 'has(self.layers) != has(self.sceneName)', message: SENTENCES.layersOrScene },
    {
      rule: '!has(self.sceneName) || !has(self.required)',
      message: SENTENCES.requiredOfScene,
      reason: 'FieldValueForbidden',
      fieldPath: '.required',
    },
  ),
  'spec.overlays.sceneName': text(REFERENCE),
  ...layerRules('spec.overlays.layers[]'),
  'spec.slate.uploadName': text(REFERENCE),
  'spec.cards.imageUploadName': text(REFERENCE),
  'spec.readinessGates': listMap('conditionType'),
  'spec.readinessGates[].conditionType': text(GATE),
  'spec.template': rules({
    rule: `${measureText(toStructural(Template), 'self')} <= ${MAX_TEMPLATE_CHARACTERS}`,
    message: SENTENCES.templateTooLarge(MAX_TEMPLATE_CHARACTERS),
  }),
  'spec.template.resources.limits': rules(positive),
  'spec.template.resources.requests': rules(notNegative),
  'spec.template.nodeSelector': rules(labelValues),
  'spec.template.labels': rules(OWN, labelValues),
  'spec.template.annotations': rules(OWN, noKeyBelow(CONFINEMENT, SENTENCES.security)),
  'spec.template.runtimeClassName': text(REFERENCE),
  'spec.template.priorityClassName': text(REFERENCE),
  ...CONDITIONS,
};

export const PLAYLIST_RULES: Additions = {
  'spec.displayName': text(DISPLAY_NAME),
  'spec.track': rules(fixed('Playlist')),
  'spec.items[].uploadName': text(REFERENCE),
  'spec.rules': listMap('name'),
  'spec.rules[]': rules({ rule: 'has(self.playlistName) != has(self.uploadName)', message: SENTENCES.oneRuleSource }),
  'spec.rules[].playlistName': text(REFERENCE),
  'spec.rules[].uploadName': text(REFERENCE),
  'spec.rules[].when': rules({
    rule: '[has(self.everySeconds), has(self.eachItems), has(self.at), has(self.window)].exists_one(given, given)',
    message: SENTENCES.oneWhen,
  }),
  'spec.rules[].when.at.cron': text([CRON]),
  'spec.rules[].when.at.timeZone': text([TIME_ZONE]),
  'spec.rules[].when.window.cron': text([CRON]),
  'spec.rules[].when.window.timeZone': text([TIME_ZONE]),
  ...CONDITIONS,
};

/** How much of it has come may rise, and its size be said once; all else stays. */
const SAME_SOURCE =
  'has(self.url) ? has(oldSelf.url) && self.url == oldSelf.url : has(self.sent) && has(oldSelf.sent) && (!has(oldSelf.sent.sizeBytes) || has(self.sent.sizeBytes) && self.sent.sizeBytes == oldSelf.sent.sizeBytes) && self.sent.receivedBytes >= oldSelf.sent.receivedBytes && has(self.sent.isPart) == has(oldSelf.sent.isPart) && has(self.sent.parts) == has(oldSelf.sent.parts) && (!has(self.sent.parts) || self.sent.parts == oldSelf.sent.parts)';

export const UPLOAD_RULES: Additions = {
  '': maxName(MAX_UPLOAD_NAME, SENTENCES.uploadNameTooLong(MAX_UPLOAD_NAME)),
  'spec.quarantine.reason': text([REASON]),
  'spec.displayName': text(DISPLAY_NAME),
  'spec.track': rules(fixed('Upload')),
  'spec.tracks': rules({
    rule: '!has(self.audioRight) || has(self.audio) && self.audio != self.audioRight',
    message: SENTENCES.rightSide,
    fieldPath: '.audioRight',
  }),
  'spec.source': rules(
    { rule: 'has(self.url) != has(self.sent)', message: SENTENCES.oneSource },
    {
      rule: SAME_SOURCE,
      message: SENTENCES.fixed('Upload'),
      reason: 'FieldValueForbidden',
    },
  ),
  'spec.source.sent': rules({
    rule: '!has(self.sizeBytes) || self.receivedBytes <= self.sizeBytes',
    message: SENTENCES.tooMuchSent,
  }),
  'spec.source.url': text(LINK),
  'status.renditions': listMap('profile'),
  ...CONDITIONS,
};

const needs = (field: string, message: string) => ({
  message,
  reason: 'FieldValueRequired' as const,
  fieldPath: `.${field}`,
});

export const DESTINATION_RULES: Additions = {
  'spec.displayName': text(DISPLAY_NAME),
  'spec.secretName': text(REFERENCE),
  'spec.platform': rules(
    { rule: "self.kind != 'watch' || has(self.url)", ...needs('url', SENTENCES.platformUrl) },
    { rule: "self.kind != 'twitch' || has(self.channel)", ...needs('channel', SENTENCES.platformChannel) },
    {
      rule: "self.kind != 'youtube' || has(self.videoId) || has(self.secretName)",
      ...needs('videoId', SENTENCES.platformVideo),
    },
    {
      rule: "!has(self.policy) || self.policy != 'Repair' || self.kind == 'youtube' && has(self.secretName)",
      message: SENTENCES.platformRepair,
      fieldPath: '.policy',
    },
  ),
  'spec.platform.url': text(WATCH_ADDRESS),
  'spec.platform.channel': text(TWITCH_CHANNEL),
  'spec.platform.videoId': text(YOUTUBE_VIDEO),
  'spec.platform.secretName': text(REFERENCE),
  ...CONDITIONS,
};
