/**
 * Answers a ConversionReview of Kubernetes (apiextensions.k8s.io/v1): a request with objects of one version, answered with the same objects in
 * another version. Pure: no I/O, no clock.
 */
import type { KubeObject } from '../../kube/types.ts';
import { convertTo } from '../../resources/versions/convert.ts';

const API_VERSION = 'apiextensions.k8s.io/v1';
const KIND = 'ConversionReview';

interface ConversionRequest {
  uid: string;
  /** Such as `loopstream.dev/v1beta1`. */
  desiredAPIVersion: string;
  objects: KubeObject[];
}

export interface ConversionReview {
  apiVersion: typeof API_VERSION;
  kind: typeof KIND;
  response: {
    uid: string;
    /** In the order of the request; only with Success. */
    convertedObjects?: KubeObject[];
    result: { status: 'Success' } | { status: 'Failed'; message: string };
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Reads the request of a review; undefined where the body is none. */
function readRequest(body: unknown): ConversionRequest | undefined {
  if (!isObject(body) || body.apiVersion !== API_VERSION || body.kind !== KIND || !isObject(body.request))
    return undefined;
  const { uid, desiredAPIVersion, objects } = body.request;
  if (typeof uid !== 'string' || typeof desiredAPIVersion !== 'string') return undefined;
  if (!Array.isArray(objects) || !objects.every(isObject)) return undefined;
  return { uid, desiredAPIVersion, objects: objects as unknown as KubeObject[] };
}

/** Returns the answer; undefined where the body is no ConversionReview v1. A conversion that fails is an answer with a sentence. */
export function answerReview(body: unknown): ConversionReview | undefined {
  const request = readRequest(body);
  if (!request) return undefined;
  const answer = (response: Omit<ConversionReview['response'], 'uid'>): ConversionReview => ({
    apiVersion: API_VERSION,
    kind: KIND,
    response: { uid: request.uid, ...response },
  });
  try {
    const convertedObjects = request.objects.map((object) => convertTo(request.desiredAPIVersion, object));
    return answer({ convertedObjects, result: { status: 'Success' } });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return answer({ result: { status: 'Failed', message } });
  }
}
