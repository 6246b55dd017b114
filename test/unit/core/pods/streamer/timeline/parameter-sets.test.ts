import { expect, test } from 'vitest';
import {
  readParameterSets,
  withParameterSets,
} from '../../../../../../src/core/pods/streamer/timeline/parameter-sets.ts';

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const header = hex('17 00 000000 01 64001f ff e1 0003 67aabb 01 0002 68cc');
const SETS = hex('00000003 67aabb 00000002 68cc');

test('the sets of a header are read, and none of one that ends too soon', () => {
  expect(readParameterSets(header)).toEqual(SETS);
  for (let length = 0; length < header.length; length++)
    expect(readParameterSets(header.subarray(0, length))).toHaveLength(0);
});

test('a keyframe gets them in front of its slices, behind a delimiter', () => {
  const flv = hex('17 01 000042');
  const slice = hex('00000002 65ff');
  const delimiter = hex('00000002 09f0');
  expect(withParameterSets(Buffer.concat([flv, slice]), SETS)).toEqual(Buffer.concat([flv, SETS, slice]));
  const delimited = Buffer.concat([flv, delimiter, slice]);
  expect(withParameterSets(delimited, SETS)).toEqual(Buffer.concat([flv, delimiter, SETS, slice]));
});

test('a keyframe that has some stays as it is, and so does one that is damaged', () => {
  const own = Buffer.concat([hex('17 01 000000'), SETS, hex('00000002 65ff')]);
  expect(withParameterSets(own, SETS)).toBe(own);
  for (const body of [hex('17 01 000000'), hex('17 01 000000 000000ff 09')])
    expect(withParameterSets(body, SETS)).toBe(body);
});
