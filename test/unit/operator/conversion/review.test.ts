/** Tests answers to ConversionReviews: each object in its place, and a sentence where one cannot be converted. */
import { expect, test } from 'vitest';
import { answerReview } from '../../../../src/operator/conversion/review.ts';

const review = (desiredAPIVersion: string, ...objects: object[]) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'uid-1', desiredAPIVersion, objects },
});
const upload = (name: string) => ({
  apiVersion: 'loopstream.dev/v1alpha1',
  kind: 'Upload',
  metadata: { name, labels: { team: 'news' } },
  spec: { type: 'video', source: { url: 'https://media.example/film' } },
  status: { state: 'ready' },
});

test('each object comes back in the version that is asked for, in the order of the request', () => {
  const before = review('loopstream.dev/v1beta1', upload('a'), upload('b'));
  const { response, ...head } = answerReview(before) ?? { response: undefined };
  expect(head).toEqual({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview' });
  expect(response?.uid).toBe('uid-1');
  expect(response?.result).toEqual({ status: 'Success' });
  expect(response?.convertedObjects).toEqual(
    ['a', 'b'].map((name) => ({
      apiVersion: 'loopstream.dev/v1beta1',
      kind: 'Upload',
      metadata: { name, labels: { team: 'news' } },
      spec: { track: 'video', source: { url: 'https://media.example/film' } },
      status: { phase: 'ready' },
    })),
  );
  const back = answerReview(review('loopstream.dev/v1alpha1', ...(response?.convertedObjects ?? [])));
  expect(back?.response.convertedObjects).toEqual(before.request.objects);
});

test.each([
  ['a version that does not exist', review('loopstream.dev/v2', upload('a')), /v2/],
  ['a kind of somebody else', review('loopstream.dev/v1beta1', { ...upload('a'), kind: 'Pod' }), /Pod/],
])('%s is a failed answer with a sentence', (_, body, says) => {
  const { response } = answerReview(body) ?? {};
  expect(response?.convertedObjects).toBeUndefined();
  expect(response?.result).toEqual({ status: 'Failed', message: expect.stringMatching(says) });
});

test.each([
  undefined,
  null,
  7,
  'text',
  [],
  {},
  { ...review('loopstream.dev/v1beta1'), apiVersion: 'apiextensions.k8s.io/v1beta1' },
  { ...review('loopstream.dev/v1beta1'), kind: 'AdmissionReview' },
  { ...review('loopstream.dev/v1beta1'), request: { uid: 'a', desiredAPIVersion: 'b', objects: [null] } },
  { ...review('loopstream.dev/v1beta1'), request: { uid: 'a', objects: [] } },
])('%j is no review', (body) => {
  expect(answerReview(body)).toBeUndefined();
});
