/**
 * Returns the part of an object that a cache keeps. A person with access to one namespace writes these objects, and every process of
 * loopstream keeps all of them in memory: what nobody reads is dropped, and a large part is not kept. Nothing here is ever written
 * back: writes are patches of single fields, and a status of its own. Pure: no I/O, no clock.
 */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { LABEL_PREFIX, OWN_PREFIXES } from './names.ts';

type Texts = Record<string, string>;
type OwnTexts = { texts: Texts; isAll: boolean };

const KEPT = [...OWN_PREFIXES, LABEL_PREFIX];
const isOwn = (key: string): boolean => KEPT.some((prefix) => key.startsWith(prefix));

function pickOwn(texts: Texts): OwnTexts {
  const keys = Object.keys(texts);
  const own = keys.filter(isOwn);
  return { texts: Object.fromEntries(own.map((key) => [key, texts[key] ?? ''])), isAll: own.length === keys.length };
}

/** Drops labels and annotations of others than the operator and the users of the API, such as `kubectl.kubernetes.io/last-applied-configuration`. */
export function keepOwnMetadata<T extends KubeObject>(object: Stored<T>): Stored<T> {
  const labels = pickOwn(object.metadata.labels ?? {});
  const annotations = pickOwn(object.metadata.annotations ?? {});
  if (labels.isAll && annotations.isAll) return object;
  const { labels: _, annotations: __, ...metadata } = object.metadata;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(Object.keys(labels.texts).length > 0 && { labels: labels.texts }),
      ...(Object.keys(annotations.texts).length > 0 && { annotations: annotations.texts }),
    },
  };
}
