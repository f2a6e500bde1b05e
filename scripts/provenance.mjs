/**
 * Prints the provenance of the archives in a folder as an in-toto statement with SLSA's predicate: which commit and which lockfile made
 * them. https://slsa.dev/spec/v1.0/provenance
 *
 * Usage: node scripts/provenance.mjs <folder> > provenance.json
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const ARCHIVES = /\.(tar\.gz|tgz|cdx\.json)$/;
const folder = process.argv[2];
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');
const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const commit = git('rev-parse', 'HEAD');
const isClean = git('status', '--porcelain') === '';
/** https://github.com/package-url/purl-spec */
const source = `pkg:generic/${name}@${version}`;

console.log(
  JSON.stringify(
    {
      _type: 'https://in-toto.io/Statement/v1',
      subject: readdirSync(folder)
        .filter((file) => ARCHIVES.test(file))
        .sort()
        .map((file) => ({ name: file, digest: { sha256: sha256(join(folder, file)) } })),
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate: {
        buildDefinition: {
          buildType: `${source}#deploy/image/bundle`,
          externalParameters: { source, isClean },
          resolvedDependencies: [
            { uri: source, digest: { gitCommit: commit } },
            { uri: 'package-lock.json', digest: { sha256: sha256(join(ROOT, 'package-lock.json')) } },
          ],
        },
        runDetails: {
          builder: { id: `${source}#deploy/image` },
          metadata: { finishedOn: new Date().toISOString() },
        },
      },
    },
    null,
    2,
  ),
);
