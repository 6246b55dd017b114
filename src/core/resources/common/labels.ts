/** Reads and checks the labels that users give their objects: Kubernetes labels under one prefix. Pure: no I/O, no clock. */
import { LABEL_VALUE } from '../../lib/sentences.ts';
import { LABEL_PREFIX } from './names.ts';

/** Longest name and longest value in Kubernetes. */
export const MAX_LABEL_CHARS = 63;
/** Labels of an object. */
export const MAX_LABELS = 20;

/** The syntax of a name behind the prefix in Kubernetes. */
export const LABEL_NAME_PATTERN = '^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$';
const NAME = new RegExp(LABEL_NAME_PATTERN);
const VALUE = new RegExp(LABEL_VALUE.matches ?? '');

export type Labels = Readonly<Record<string, string>>;

interface Labelled {
  metadata: { labels?: Labels };
}

/** Returns the message about a name that no label can have; undefined for one that it can have. */
export function findLabelNameProblem(name: string): string | undefined {
  if (name.includes('/')) return `must be a name without a slash: the label team is ${LABEL_PREFIX}team in Kubernetes`;
  if (name.length > MAX_LABEL_CHARS) return `must have at most ${MAX_LABEL_CHARS} characters`;
  return NAME.test(name)
    ? undefined
    : 'must be a label name: letters, digits, "-", "_" and ".", with a letter or digit at both ends';
}

/** Returns the message about a value that no label can have; undefined for one that it can have. */
export function findLabelValueProblem(value: string): string | undefined {
  if (value.length > MAX_LABEL_CHARS) return `must have at most ${MAX_LABEL_CHARS} characters`;
  return VALUE.test(value) ? undefined : LABEL_VALUE.sentence;
}

/** Returns the user's labels of an object, by their names without the prefix. */
export const readLabels = ({ metadata }: Labelled): Labels =>
  Object.fromEntries(
    Object.entries(metadata.labels ?? {}).flatMap(([name, value]) =>
      name.startsWith(LABEL_PREFIX) ? [[name.slice(LABEL_PREFIX.length), value]] : [],
    ),
  );

/** Returns one label of an object, by its name without the prefix. */
export const readLabel = ({ metadata }: Labelled, name: string): string | undefined =>
  metadata.labels?.[LABEL_PREFIX + name];

/** Returns the labels as Kubernetes has them. */
export const toKubeLabels = (labels: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [LABEL_PREFIX + name, value]));
