/** Writes commands about the things on screen, with their ids and without anybody's key. Pure: no I/O, no clock. */

export interface Commands {
  rest: string;
  kubectl: string;
}

const head = (origin: string): string => `API=${origin}/v1
KEY=lsk_...   # your API key
`;
const get = (path: string): string => `curl -sS -H "X-API-Key: $KEY" "$API/${path}"`;
const post = (path: string, body: string): string =>
  `curl -sS -X POST -H "X-API-Key: $KEY" -H "Content-Type: application/json" "$API/${path}" -d '${body}'`;

type ListPath = 'uploads' | 'playlists' | 'destinations';

const MORE: Record<ListPath, string> = {
  uploads: `# One more, from a link
${post('uploads/from-link', '{"type":"VIDEO","url":"https://example.com/show.mp4"}')}`,
  playlists: `# One more, of uploads
${post('playlists', '{"name":"Evenings","kind":"video","mode":"shuffle","items":[{"uploadObjectID":"OBJECT_ID"}]}')}`,
  destinations: `# One more, and whether it takes a stream
${post('destinations', '{"name":"My channel","rtmpUrl":"rtmp://host/app","rtmpKey":"..."}')}
curl -sS -X POST -H "X-API-Key: $KEY" "$API/destinations/DESTINATION_ID/test"`,
};

export const listCommands = (origin: string, list: ListPath): Commands => ({
  rest: `${head(origin)}
# All of them, newest first
${get(list)}

${MORE[list]}`,
  kubectl: `# All of them, and one with what happened to it
kubectl get ${list}
kubectl describe ${list.slice(0, -1)} NAME

# Follow them
kubectl get ${list} --watch`,
});

export const playlistCommands = (origin: string, id: string, version: number): Commands => ({
  rest: `${head(origin)}
# As it is now, and the versions it had
${get(`playlists/${id}`)}
${get(`playlists/${id}/versions`)}

# This version on air, without a break
${post(`playlists/${id}/publish`, `{"version":${version}}`)}`,
  kubectl: `# As it is now, and what happened to it
kubectl get playlist ${id} -o yaml
kubectl describe playlist ${id}`,
});
