/** Tests which files the page refuses before they are sent. */
import { expect, test } from 'vitest';
import { judgeFiles, pickMedia } from '../../../../../src/dashboard/features/uploads/judgeFiles.ts';

const file = (name: string, type = '', size = 9) => ({ name, type, size });

test('what is empty, a document or an archive is refused with a way on', () => {
  const { accepted, refused } = judgeFiles([
    file('a.mp4', 'video/mp4', 0),
    file('notes.txt', 'text/plain'),
    file('b.pdf', 'application/pdf'),
    file('c.zip', 'application/zip'),
    file('d.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
  ]);
  expect(accepted).toEqual([]);
  expect(refused.map(({ name }) => name)).toEqual(['a.mp4', 'notes.txt', 'b.pdf', 'c.zip', 'd.docx']);
  expect(refused[0]?.problem).toBe('This file is empty. Choose another one.');
  for (const { problem } of refused) expect(problem).toMatch(/Choose a(nother one| media file)\.$/);
});

test('whatever may be media is sent, and the server judges it', () => {
  const files = [
    file('a.mp4', 'video/mp4'),
    file('song.mp3', 'audio/mpeg'),
    file('cover.png', 'image/png'),
    // Linux takes a transport stream for a translation.
    file('b.ts', 'text/vnd.trolltech.linguist'),
    file('c.rmvb', 'application/vnd.rn-realmedia-vbr'),
    file('d.mxf', 'application/mxf'),
    file('without ending'),
  ];
  expect(judgeFiles(files)).toEqual({ accepted: files, refused: [] });
});

test('a folder gives its media in the order of their names, and nothing else', () => {
  const names = ['10.mp4', '2.mp4', 'notes.txt', '.DS_Store', 'Thumbs.db', '1.mp4'];
  const files = names.map((name) => file(name, name.endsWith('.txt') ? 'text/plain' : ''));
  expect(pickMedia(files).map(({ name }) => name)).toEqual(['1.mp4', '2.mp4', '10.mp4']);
});
