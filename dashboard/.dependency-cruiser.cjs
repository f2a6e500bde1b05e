const room = (name) => `^dashboard/src/${name}/`;
const only = (from, allowed, comment) => ({
  name: `${from}-sees-only-${allowed.join('-') || 'itself'}`,
  comment,
  severity: 'error',
  from: { path: room(from) },
  to: { path: '^dashboard/src/', pathNot: [from, ...allowed].map(room) },
});

/** The import rules of the dashboard: routes → screens → parts → theme, screens → api, session, words. */
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    only('theme', [], 'Tokens know nothing of what they colour.'),
    only('words', [], 'Texts are data.'),
    only('parts', ['theme', 'words'], 'A part knows no resource and no server, so that it can be shown with made-up data.'),
    only('api', ['parts/states'], 'What the server says is independent of who shows it.'),
    only('session', ['api'], 'Who is signed in comes from the server.'),
    {
      name: 'screens-see-no-routes',
      comment: 'An address shows a screen, never the other way round.',
      severity: 'error',
      from: { path: room('screens') },
      to: { path: '^dashboard/src/(routes/|router|routeTree|main)' },
    },
    {
      name: 'a-screen-sees-no-other-screen',
      comment: 'What two screens use is a part. The shell knows all pages and no screen.',
      severity: 'error',
      from: { path: '^dashboard/src/screens/([^/]+)/' },
      to: { path: '^dashboard/src/screens/', pathNot: '^dashboard/src/screens/$1/' },
    },
    {
      name: 'nothing-of-the-server',
      comment: 'The dashboard speaks to the server by its published REST interface only.',
      severity: 'error',
      from: { path: '^dashboard/src/' },
      to: { path: '^(src|test|bench|scripts|bin)/|^dashboard/dev/' },
    },
    { name: 'no-circles', severity: 'error', comment: 'Two files that need each other are one idea in two places, or a missing third.', from: {}, to: { circular: true } },
    { name: 'no-orphans', severity: 'error', comment: 'A file that nobody opens is a file to delete.', from: { orphan: true, pathNot: '\\.d\\.ts$|\\.spec\\.ts$|main\\.tsx$' }, to: {} },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'browser', 'default'], extensions: ['.ts', '.tsx', '.d.ts', '.css', '.js', '.svg'] },
  },
};
