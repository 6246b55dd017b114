/** Tests which redirect URIs a client may have. */
import { expect, test } from 'vitest';
import { findRedirectProblem } from '../../../../src/service/auth/redirect-uris.ts';

test.each([
  'https://app.example.com/callback?from=loop',
  'https://vscode.dev/redirect',
  'https://localhost:8443/cb',
  'http://127.0.0.1/',
  'http://127.0.0.1:33418',
  'http://localhost:6274/oauth/callback',
  'http://[::1]:5000/cb',
  'cursor://anysphere.cursor-mcp/oauth/callback',
  'vscode://vscode.github-authentication/did-authenticate',
  'vscode-insiders://ms-vscode.mcp/callback',
  'windsurf://codeium.windsurf/callback',
  'zed://mcp/oauth/callback',
  'com.example.app:/cb',
  'com.example.app://oauth',
  'app+beta:cb',
])('%s can be used', (uri) => {
  expect(findRedirectProblem(uri)).toBeUndefined();
});

test.each([
  'javascript:alert(1)',
  'JavaScript://x/%0aalert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  'blob:https://a/b',
  'vbscript:x',
  'about:blank',
  'view-source:https://a.example',
  'filesystem:https://a/b',
  'jar:https://a!/b',
  'mailto:a@example.com',
  'intent://x#Intent;end',
  'ms-msdt:/id',
  'chrome://settings',
  'chrome-extension://abc/cb',
  'http://app.example.com/cb',
  'http://127.0.0.1.example.com/cb',
  'http://localhost@evil.example/cb',
  'http://localhost.:80/cb',
  'http://0x7f.1/cb',
  'http://2130706433/cb',
  'http:127.0.0.1',
  'http://127.0.0.2/cb',
  'https://user@app.example.com/cb',
  'https:app.example.com',
  'https://app.example.com/#x',
  'cursor://a:b@host/cb',
  'java\nscript:alert(1)',
  ' cursor://a',
  'cursor://a b',
  'https://app.example.com\\@evil.example',
  'c:/windows',
  'cursor:',
  'callback',
  '',
  `https://a.example/${'x'.repeat(2000)}`,
  5,
  null,
  {},
])('%s cannot', (uri) => {
  expect(findRedirectProblem(uri)).toMatch(/^must /);
});
