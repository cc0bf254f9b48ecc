{{- /* SPDX-License-Identifier: Apache-2.0 */ -}}
{{- /* SPDX-FileCopyrightText: The ttmem authors */ -}}
{{- define "ttmem.labels" -}}
app.kubernetes.io/name: ttmem
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}
{{- define "ttmem.selector" -}}
app.kubernetes.io/name: ttmem
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}
{{- define "ttmem.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}
