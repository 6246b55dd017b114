/** Writes commands about the things on screen, with their ids and without anybody's key. Pure: no I/O, no clock. */

export interface ShownCommands {
  rest: string;
  kubectl: string;
}

const head = (origin: string): string => `API=${origin}/v1
KEY=lsk_...   # your API key
`;
const get = (path: string): string => `curl -sS -H "X-API-Key: $KEY" "$API/${path}"`;
const patch = (path: string, body: string): string => post(path, body).replace('-X POST', '-X PATCH');
const post = (path: string, body: string): string =>
  `curl -sS -X POST -H "X-API-Key: $KEY" -H "Content-Type: application/json" "$API/${path}" -d '${body}'`;

type ListPath = 'uploads' | 'playlists' | 'scenes' | 'destinations';

const MORE: Record<ListPath, string> = {
  uploads: `# Add one, from a link
${post('uploads/from-link', '{"type":"VIDEO","url":"https://example.com/show.mp4"}')}`,
  playlists: `# Add one, from uploads
${post('playlists', '{"name":"Evenings","kind":"video","mode":"shuffle","items":[{"uploadObjectID":"OBJECT_ID"}]}')}`,
  scenes: `# Add one, and show it over a stream
${post('scenes', '{"name":"Evening","layers":[{"text":"{{item.title}}"}]}')}
${patch('streams/STREAM_ID', '{"overlays":{"sceneID":"SCENE_ID"}}')}`,
  destinations: `# Add one, and test it
${post('destinations', '{"name":"My channel","rtmpUrl":"rtmp://host/app","rtmpKey":"..."}')}
curl -sS -X POST -H "X-API-Key: $KEY" "$API/destinations/DESTINATION_ID/test"`,
};

export const listCommands = (origin: string, list: ListPath): ShownCommands => ({
  rest: `${head(origin)}
# All of them, newest first
${get(list)}

${MORE[list]}`,
  kubectl: `# All of them, and one with its recent events
kubectl get ${list}
kubectl describe ${list.slice(0, -1)} NAME

# Watch them
kubectl get ${list} --watch`,
});

export const playlistCommands = (origin: string, id: string, version: number): ShownCommands => ({
  rest: `${head(origin)}
# Current state and versions
${get(`playlists/${id}`)}
${get(`playlists/${id}/versions`)}

# Publish this version, without a break
${post(`playlists/${id}/publish`, `{"version":${version}}`)}`,
  kubectl: `# Current state and recent events
kubectl get playlist ${id} -o yaml
kubectl describe playlist ${id}`,
});
