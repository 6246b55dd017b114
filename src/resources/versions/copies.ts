/** Keeps copies of specs outside of their objects, such as a published version in an annotation. Pure: no I/O, no clock. */
import { type Kind, NAMES, renameFields } from './names.ts';

/**
 * Returns a spec, or a part of one, for a copy outside of its object, such as an annotation. A copy has the names of
 * v1alpha1: the last release without v1beta1 reads them too, so a rollback to it keeps what is published.
 */
export const formatCopy = (kind: Kind, spec: unknown): unknown =>
  renameFields(spec, NAMES[kind].below.get('spec'), (node, name) => node.toAlpha.get(name) ?? name);

/** Returns such a copy in the names of v1beta1, whichever version's it has. */
export const readCopy = (kind: Kind, copy: unknown): unknown =>
  renameFields(copy, NAMES[kind].below.get('spec'), (node, name) => node.toBeta.get(name) ?? name);
