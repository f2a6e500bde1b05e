{{/*
The spec of a pod. Takes root, component (api, worker, migration) and volume: the name of the volume for the data folder, and its source
unless a claim template makes it.
*/}}
{{- define "gatehouse.podSpec" -}}
{{- $values := .root.Values -}}
{{- $own := index $values .component -}}
{{- $secrets := include "gatehouse.secretsOf" . | splitList " " | compact -}}
{{- $settings := include "gatehouse.secretSettings" .root | fromYaml -}}
{{- $embedded := and $values.database.embedded (eq .component "api") -}}
automountServiceAccountToken: false
# A Service named gatehouse would set GATEHOUSE_PORT to its own address.
enableServiceLinks: false
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ .component }}
    image: {{ include "gatehouse.image" .root }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    {{- if eq .component "migration" }}
    args: [migrate]
    {{- end }}
    securityContext:
      {{- toYaml $values.securityContext | nindent 6 }}
    env:
      - { name: GATEHOUSE_DATA_DIR, value: /data }
      {{- if ne .component "migration" }}
      - { name: GATEHOUSE_ROLE, value: {{ ternary "all" .component $embedded }} }
      - { name: GATEHOUSE_PORT, value: '8787' }
      {{- if not (hasKey $values.settings "GATEHOUSE_HOST") }}
      - { name: GATEHOUSE_HOST, value: 0.0.0.0 }
      {{- end }}
      {{- if eq .component "api" }}
      - { name: GATEHOUSE_PROCESSES, value: {{ $own.processes | quote }} }
      {{- end }}
      - { name: GATEHOUSE_DRAIN_DELAY_MS, value: {{ mul $values.drain.delaySeconds 1000 | quote }} }
      - { name: GATEHOUSE_DRAIN_TIMEOUT_MS, value: {{ mul $values.drain.timeoutSeconds 1000 | quote }} }
      - { name: GATEHOUSE_DRAIN_SPOOL_MS, value: {{ mul $values.drain.spoolSeconds 1000 | quote }} }
      {{- if $values.exports.existingClaim }}
      - { name: GATEHOUSE_EXPORT_DIR, value: /exports }
      {{- end }}
      {{- if $values.prices.existingConfigMap }}
      - { name: GATEHOUSE_PRICES_FILE, value: /etc/gatehouse/prices/{{ $values.prices.key }} }
      {{- end }}
      {{- end }}
      {{- if or $values.trustedCertificates.existingConfigMap $values.trustedCertificates.existingSecret }}
      - { name: NODE_EXTRA_CA_CERTS, value: /etc/gatehouse/authorities/{{ $values.trustedCertificates.key }} }
      {{- end }}
      {{- range $secrets }}
      {{- $setting := index $settings . }}
      - { name: {{ $setting }}_FILE, value: /run/secrets/gatehouse/{{ lower $setting }} }
      {{- end }}
      {{- if ne .component "migration" }}
      {{- range $name, $value := $values.settings }}
      - name: {{ $name }}
        {{- /* Helm reads numbers as floats, and would write 6.7108864e+07. */}}
        value: {{ ternary (int64 $value) $value (kindIs "float64" $value) | quote }}
      {{- end }}
      {{- end }}
      {{- with $values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if ne .component "migration" }}
    ports:
      - { name: http, containerPort: 8787, protocol: TCP }
    # Migrations, and a worker's wait for the first api pod, are part of the start.
    startupProbe:
      httpGet: { path: /livez, port: http }
      periodSeconds: 5
      timeoutSeconds: 5
      failureThreshold: {{ div (add $own.startupSeconds 4) 5 }}
    livenessProbe:
      httpGet: { path: /livez, port: http }
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 3
    readinessProbe:
      httpGet: { path: /readyz, port: http }
      periodSeconds: 5
      timeoutSeconds: 5
      failureThreshold: 1
    {{- end }}
    resources:
      {{- toYaml $own.resources | nindent 6 }}
    volumeMounts:
      - { name: {{ .volume.name }}, mountPath: /data }
      {{- if $secrets }}
      - { name: secrets, mountPath: /run/secrets/gatehouse, readOnly: true }
      {{- end }}
      {{- if $embedded }}
      - { name: shared-memory, mountPath: /dev/shm }
      {{- end }}
      {{- if and $values.exports.existingClaim (ne .component "migration") }}
      - { name: exports, mountPath: /exports }
      {{- end }}
      {{- if and $values.prices.existingConfigMap (ne .component "migration") }}
      - { name: prices, mountPath: /etc/gatehouse/prices, readOnly: true }
      {{- end }}
      {{- if or $values.trustedCertificates.existingConfigMap $values.trustedCertificates.existingSecret }}
      - { name: authorities, mountPath: /etc/gatehouse/authorities, readOnly: true }
      {{- end }}
      {{- with $values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
volumes:
  {{- with .volume.source }}
  - name: {{ $.volume.name }}
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if $secrets }}
  - name: secrets
    projected:
      defaultMode: 0440
      sources:
        {{- range $secrets }}
        {{- $secret := index $values.secrets . }}
        - secret:
            name: {{ $secret.existingSecret }}
            items: [{ key: {{ $secret.key }}, path: {{ index $settings . | lower }} }]
        {{- end }}
  {{- end }}
  {{- if $embedded }}
  # PostgreSQL's parallel queries; the default of container runtimes is 64 MiB.
  - name: shared-memory
    emptyDir: { medium: Memory, sizeLimit: 256Mi }
  {{- end }}
  {{- if and $values.exports.existingClaim (ne .component "migration") }}
  - name: exports
    persistentVolumeClaim: { claimName: {{ $values.exports.existingClaim }} }
  {{- end }}
  {{- if and $values.prices.existingConfigMap (ne .component "migration") }}
  - name: prices
    configMap: { name: {{ $values.prices.existingConfigMap }} }
  {{- end }}
  {{- with $values.trustedCertificates }}
  {{- if .existingConfigMap }}
  - name: authorities
    configMap: { name: {{ .existingConfigMap }} }
  {{- else if .existingSecret }}
  - name: authorities
    secret: { secretName: {{ .existingSecret }}, items: [{ key: {{ .key }}, path: {{ .key }} }] }
  {{- end }}
  {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* The template of a pod that runs for long. Takes the same as gatehouse.podSpec. */}}
{{- define "gatehouse.podTemplate" -}}
{{- $own := index .root.Values .component -}}
metadata:
  labels:
    {{- include "gatehouse.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $own.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $own.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "gatehouse.serviceAccountName" .root }}
  terminationGracePeriodSeconds: {{ include "gatehouse.gracePeriod" .root }}
  {{- include "gatehouse.podSpec" . | nindent 2 }}
  topologySpreadConstraints:
    {{- if $own.topologySpreadConstraints }}
    {{- toYaml $own.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gatehouse.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
    {{- end }}
  {{- with $own.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $own.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
{{- end -}}
