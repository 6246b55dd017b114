/**
 * Builds the list of what is in the image as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/). Pure: no I/O, no clock. The packages of
 * npm are those that the bundles hold, of which no scanner of an image finds a trace; Debian's are those of image-packages.
 */

export interface Component {
  name: string;
  version: string;
  /** An expression of SPDX, or a name of the author's own. */
  licence: string;
  /** The text of the licence, where `licence` is no expression or does not say all. */
  text: string;
  /** https://github.com/package-url/purl-spec */
  purl: string;
  /** Where its licence was read, and what else is to be said of it. */
  comment?: string;
}

export interface SbomOptions {
  name: string;
  version: string;
  /** `sha256:…` of the image's manifest. */
  digest: string;
  architecture: string;
  /** Seconds since 1970. */
  epoch: number;
  components: readonly Component[];
}

const EXPRESSION = /^\(?[A-Za-z0-9.+-]+( (AND|OR|WITH) [A-Za-z0-9.+-]+)*\)?$/;
const NONE = 'NOASSERTION';

/** Ids may hold letters, digits, dots and dashes alone. */
const toId = (text: string): string => text.replaceAll(/[^A-Za-z0-9.]+/g, '-').replaceAll(/^-|-$/g, '');

export const debianPurl = (name: string, version: string, architecture: string): string =>
  `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-12`;

export const npmPurl = (name: string, version: string): string =>
  `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;

export function buildSbom({ name, version, digest, architecture, epoch, components }: SbomOptions) {
  const created = new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');
  const image = 'SPDXRef-image';
  const texts: { licenseId: string; name: string; extractedText: string }[] = [];
  const packages = components.map((component, index) => {
    const known = EXPRESSION.test(component.licence);
    const SPDXID = `SPDXRef-${index + 1}-${toId(component.name)}`;
    const licenseId = `LicenseRef-${index + 1}-${toId(component.name)}`;
    if (!known)
      texts.push({ licenseId, name: `${component.name}: ${component.licence}`, extractedText: component.text });
    const licence = known ? component.licence : licenseId;
    return {
      SPDXID,
      name: component.name,
      versionInfo: component.version,
      downloadLocation: NONE,
      filesAnalyzed: false,
      licenseConcluded: licence,
      licenseDeclared: licence,
      copyrightText: NONE,
      ...(component.comment !== undefined && { comment: component.comment }),
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: component.purl }],
    };
  });
  return {
    spdxVersion: 'SPDX-2.3',
    dataLicense: 'CC0-1.0',
    SPDXID: 'SPDXRef-DOCUMENT',
    name: `${name}-${version}`,
    documentNamespace: `https://spdx.org/spdxdocs/${name}-${version}-${digest.replace('sha256:', '')}`,
    creationInfo: { created, creators: [`Tool: ${name}-release-${version}`] },
    packages: [
      {
        SPDXID: image,
        name,
        versionInfo: version,
        downloadLocation: NONE,
        filesAnalyzed: false,
        primaryPackagePurpose: 'CONTAINER',
        licenseConcluded: 'Apache-2.0',
        licenseDeclared: 'Apache-2.0',
        copyrightText: NONE,
        comment:
          'The manifest of the image has the digest that its package URL names. Its parts have licences of their own.',
        externalRefs: [
          {
            referenceCategory: 'PACKAGE-MANAGER',
            referenceType: 'purl',
            referenceLocator: `pkg:oci/${name}@${encodeURIComponent(digest)}?arch=${architecture}&tag=${version}`,
          },
        ],
      },
      ...packages,
    ],
    ...(texts.length > 0 && { hasExtractedLicensingInfos: texts }),
    relationships: [
      { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: image },
      ...packages.map(({ SPDXID }) => ({
        spdxElementId: image,
        relationshipType: 'CONTAINS',
        relatedSpdxElement: SPDXID,
      })),
    ],
  };
}
