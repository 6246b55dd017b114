/** Shows the API's description with Scalar, in the product's colours. It makes requests to this origin alone. */
import './developers.css';
import './reference.css';
import scriptUrl from 'virtual:api-reference';
import { showAccount } from './account.ts';
import { followScheme, type Scheme } from './scheme.ts';

/** https://github.com/scalar/scalar/blob/main/documentation/configuration.md */
interface Scalar {
  createApiReference(place: string, configuration: object): void;
}

const CONFIGURATION = {
  url: '/v1/openapi.json',
  theme: 'none',
  // Nothing of others: fonts, telemetry, their agent, their client, their account.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  // A key that somebody enters is forgotten with the page.
  persistAuth: false,
  hideDarkModeToggle: true,
  defaultOpenFirstTag: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
};

function load(url: string): Promise<Scalar> {
  const { promise, resolve, reject } = Promise.withResolvers<Scalar>();
  const script = document.createElement('script');
  script.src = url;
  script.addEventListener('load', () => resolve((window as unknown as { Scalar: Scalar }).Scalar));
  script.addEventListener('error', () => reject(new Error('The script of the reference did not come.')));
  document.head.append(script);
  return promise;
}

function say(text: string): void {
  const place = document.getElementById('waiting');
  if (place) place.textContent = text;
}

/** Scalar reads its own state of the theme once, and its styles follow the class. */
function setScheme(scheme: Scheme): void {
  document.body.classList.toggle('dark-mode', scheme === 'dark');
  document.body.classList.toggle('light-mode', scheme === 'light');
}

async function show(): Promise<void> {
  followScheme(setScheme);
  void showAccount();
  const scalar = await load(scriptUrl);
  document.getElementById('waiting')?.remove();
  const { mantineColorScheme: forceDarkModeState } = document.documentElement.dataset;
  scalar.createApiReference('#reference', { ...CONFIGURATION, forceDarkModeState });
}

void show().catch(() => say('The reference did not load. Reload the page, or read /v1/openapi.json.'));
