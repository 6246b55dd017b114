/**
 * Converts objects of our kinds between their API versions. The versions differ in names of fields alone, so a conversion
 * is lossless both ways. Pure: no I/O, no clock.
 */
import type { KubeObject } from '../../kube/types.ts';
import { GROUP } from '../common/names.ts';
import { KINDS, type Kind, NAMES, renameFields, swapName, VERSIONS } from './names.ts';

/** The error of an object that cannot be converted; its message is a sentence for the client. */
export class ConversionError extends Error {
  override readonly name = 'ConversionError';
}

const API_VERSIONS: readonly string[] = VERSIONS.map((version) => `${GROUP}/${version}`);

const isKind = (kind: string | undefined): kind is Kind => (KINDS as readonly (string | undefined)[]).includes(kind);

const joinWords = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

function checkVersion(apiVersion: string | undefined, what: string): void {
  if (apiVersion !== undefined && API_VERSIONS.includes(apiVersion)) return;
  throw new ConversionError(
    `${what} cannot be converted: its kind has the versions ${joinWords(API_VERSIONS)}, not "${apiVersion ?? ''}". ` +
      'Use one of these, or upgrade the operator.',
  );
}

/**
 * Returns an object in `apiVersion`, e.g. loopstream.dev/v1beta1; the object itself where that is its version already.
 * The object may be any part of one, as managed fields of server-side apply are. Its metadata and unknown fields stay.
 * Throws ConversionError for a kind or a version that is not ours.
 */
export function convertTo(apiVersion: string, object: KubeObject): KubeObject {
  const { kind, metadata } = object;
  const what = `${kind || 'An object without a kind'}${metadata?.name ? ` "${metadata.name}"` : ''}`;
  if (!isKind(kind))
    throw new ConversionError(`${what} cannot be converted: loopstream has the kinds ${joinWords(KINDS)}.`);
  checkVersion(object.apiVersion, what);
  checkVersion(apiVersion, what);
  if (object.apiVersion === apiVersion) return object;
  return { ...(renameFields(object, NAMES[kind], swapName) as KubeObject), apiVersion };
}
