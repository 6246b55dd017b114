/** Reads and checks the labels that users give their objects: Kubernetes labels under one prefix. Pure: no I/O, no clock. */
import { brokenRule, LABEL_NAME, LABEL_VALUE } from '../../lib/sentences.ts';
import { LABEL_PREFIX } from './names.ts';

/** Longest name and longest value in Kubernetes. */
export const MAX_LABEL_CHARS = 63;
/** Labels of an object. */
export const MAX_LABELS = 20;

export type Labels = Readonly<Record<string, string>>;

interface Labelled {
  metadata: { labels?: Labels };
}

/** Returns the message about a name that no label can have; undefined for one that it can have. */
export function findLabelNameProblem(name: string): string | undefined {
  if (name.includes('/')) return `must be a name without a slash: the label team is ${LABEL_PREFIX}team in Kubernetes`;
  if (name.length > MAX_LABEL_CHARS) return `must have at most ${MAX_LABEL_CHARS} characters`;
  return brokenRule([LABEL_NAME], name);
}

/** Returns the message about a value that no label can have; undefined for one that it can have. */
export function findLabelValueProblem(value: string): string | undefined {
  if (value.length > MAX_LABEL_CHARS) return `must have at most ${MAX_LABEL_CHARS} characters`;
  return brokenRule([LABEL_VALUE], value);
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

/** Returns the user's labels of an object as Kubernetes has them, for what is made of it. */
export const pickUserLabels = ({ metadata }: Labelled): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata.labels ?? {}).filter(([name]) => name.startsWith(LABEL_PREFIX)));

/** Returns the labels as Kubernetes has them. */
export const toKubeLabels = (labels: Labels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [LABEL_PREFIX + name, value]));
