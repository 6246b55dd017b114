/** Defines the labels of an object as clients see and send them. Pure: no I/O, no clock. */
import { Type } from 'typebox';
import { LABEL_NAME, LABEL_VALUE } from '../../core/lib/sentences.ts';
import {
  type Labels as LabelMap,
  MAX_LABEL_CHARS,
  MAX_LABELS,
  readLabels,
  toKubeLabels,
} from '../../core/resources/common/labels.ts';
import { LABEL_PREFIX } from '../../core/resources/common/names.ts';

const VALUE = { type: 'string', maxLength: MAX_LABEL_CHARS, pattern: LABEL_VALUE.matches };

export const Labels = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  description: `Labels, by their names. In Kubernetes, the label team is \`${LABEL_PREFIX}team\`.`,
});

export const LabelsInput = Type.Optional(
  Type.Unsafe<Record<string, string>>({
    type: 'object',
    propertyNames: { type: 'string', maxLength: MAX_LABEL_CHARS, pattern: LABEL_NAME.matches },
    additionalProperties: VALUE,
    maxProperties: MAX_LABELS,
    description: 'Labels, replaced as a whole.',
  }),
);

/** Returns the merge patch of an object's metadata that gives it these labels alone; nothing without labels. */
export function patchLabels(
  object: Parameters<typeof readLabels>[0],
  labels: LabelMap | undefined,
): { labels?: Record<string, string | null> } {
  if (!labels) return {};
  const gone = Object.keys(readLabels(object)).filter((name) => !Object.hasOwn(labels, name));
  const removed = Object.keys(toKubeLabels(Object.fromEntries(gone.map((name) => [name, '']))));
  return { labels: { ...Object.fromEntries(removed.map((name) => [name, null])), ...toKubeLabels(labels) } };
}
