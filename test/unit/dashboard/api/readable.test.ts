/** Tests that sentences of the server are the reader's when they reach the page. */
import { expect, test } from 'vitest';
import { describeFieldError, describeProblem } from '../../../../src/dashboard/api/problem.ts';
import { makeReadable, withoutIds, withReadable } from '../../../../src/dashboard/api/readable.ts';
import { formatTime } from '../../../../src/dashboard/lib/format.ts';

const UPL = 'upl-01m8jesvkcbh7kryr6578h84ny';
const AT = '2026-11-29T23:00:00Z';

test('instants are times of the reader, and quotation marks are those of people', () => {
  expect(makeReadable(`The stream "Evening" goes on air at ${AT}.`)).toBe(
    `The stream “Evening” goes on air at ${formatTime(AT)}.`,
  );
  expect(makeReadable('From 2026-11-29T23:00:00.123+01:00 on.')).not.toMatch(/\dT\d/);
  expect(makeReadable('Version 1.2 of 2026-11-29.')).toBe('Version 1.2 of 2026-11-29.');
});

test('answers have readable sentences at any depth, and are the same object without any', () => {
  const plain = { data: [{ name: `"a" at ${AT}`, at: AT }] };
  expect(withReadable(plain)).toBe(plain);
  expect(withReadable({ data: [{ at: AT, error: { message: `Until ${AT}.`, fix: 'Use "b".' } }] })).toEqual({
    data: [{ at: AT, error: { message: `Until ${formatTime(AT)}.`, fix: 'Use “b”.' } }],
  });
  // The page looks for the title of an id in its marks.
  expect(makeReadable(`Upload "${UPL}" is "ready".`)).toBe(`Upload "${UPL}" is “ready”.`);
});

test('an id without a title is what it is the id of', () => {
  expect(withoutIds(`Upload "${UPL}" is being prepared.`)).toBe('The upload is being prepared.');
  expect(withoutIds(`The account has no upload ${UPL}.`)).toBe('The account has no such upload.');
  expect(withoutIds(`It waits. Upload ${UPL} is not there, and ${UPL} neither.`)).toBe(
    'It waits. The upload is not there, and the upload neither.',
  );
  expect(withoutIds('Upload "film" is fine.')).toBe('Upload "film" is fine.');
});

test('a mistake in a request names its field in words', () => {
  expect(describeFieldError({ path: '/rtmpUrl', message: 'must name a host' })).toBe('RTMP URL must name a host.');
  expect(describeFieldError({ path: '/items/2/uploadObjectID', message: 'names an upload that does not exist' })).toBe(
    'Upload object ID of items 3 names an upload that does not exist.',
  );
  expect(describeFieldError({ path: '', message: 'must be an object' })).toBe('It must be an object.');
  const errors = [{ path: '/Upload-Metadata/type', message: 'must be video or audio' }];
  expect(describeProblem('/Upload-Metadata/type must be video or audio', errors)).not.toContain('/');
  expect(describeProblem('The file is empty.', errors)).toBe('The file is empty.');
});
