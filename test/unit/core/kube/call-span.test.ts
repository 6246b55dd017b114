import { expect, test } from 'vitest';
import { describePath } from '../../../../src/core/kube/call-span.ts';

test.each([
  ['/api/v1/namespaces/tv/pods', '/api/v1/namespaces/{namespace}/pods', 'tv', undefined],
  ['/api/v1/namespaces/tv/pods/a-onair?x=secret', '/api/v1/namespaces/{namespace}/pods/{name}', 'tv', 'a-onair'],
  [
    '/apis/loopstream.dev/v1/namespaces/tv/loopstreams/bunny/status?fieldManager=x&force=true',
    '/apis/loopstream.dev/v1/namespaces/{namespace}/loopstreams/{name}/status',
    'tv',
    'bunny',
  ],
  ['/api/v1/nodes', '/api/v1/nodes', undefined, undefined],
  ['/readyz', '/readyz', undefined, undefined],
])('the path %s is %s', (path, template, namespace, name) => {
  const found = describePath(path);
  expect([found.template, found.namespace, found.name]).toEqual([template, namespace, name]);
});
